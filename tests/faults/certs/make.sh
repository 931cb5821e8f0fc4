#!/bin/sh
# Makes a certificate for localhost that nobody vouches for, valid for a hundred years.
set -eu
cd "$(dirname "$0")"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500 \
    -subj "/CN=localhost" -addext "subjectAltName=DNS:localhost" \
    -keyout stranger.key -out stranger.pem
