#!/bin/sh
# Makes the certificates of the TLS tests, valid from 2020 to 2120: an authority, and a server's for
# localhost signed by it. The authority's key is thrown away. issued.pem is signed by the issuing
# authority issuing.pem, and that by a root that is thrown away whole.
set -eu
cd "$(dirname "$0")"
here=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
: > index.txt
cat > ca.cnf <<CNF
[ca]
default_ca = tests
[tests]
database = index.txt
new_certs_dir = .
rand_serial = yes
default_md = sha256
policy = names
[names]
commonName = supplied
[authority]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign,cRLSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical,CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = serverAuth
subjectAltName = DNS:localhost
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
[req]
distinguished_name = dn
[dn]
CNF
key="-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
dates="-startdate 20200101000000Z -enddate 21200101000000Z"
openssl req -config ca.cnf $key -subj "/CN=lockterm test authority" -keyout ca.key -out ca.csr
openssl ca -config ca.cnf -batch -notext $dates -selfsign -keyfile ca.key -in ca.csr \
    -extensions authority -out "$here/ca.pem"
openssl req -config ca.cnf $key -subj "/CN=localhost" -keyout "$here/server.key" -out server.csr
openssl ca -config ca.cnf -batch -notext $dates -cert "$here/ca.pem" -keyfile ca.key \
    -in server.csr -extensions server -out "$here/server.pem"
openssl req -config ca.cnf $key -subj "/CN=lockterm test root" -keyout root.key -out root.csr
openssl ca -config ca.cnf -batch -notext $dates -selfsign -keyfile root.key -in root.csr \
    -extensions authority -out root.pem
openssl req -config ca.cnf $key -subj "/CN=lockterm test issuer" -keyout issuing.key -out issuing.csr
openssl ca -config ca.cnf -batch -notext $dates -cert root.pem -keyfile root.key \
    -in issuing.csr -extensions authority -out "$here/issuing.pem"
openssl req -config ca.cnf $key -subj "/CN=localhost" -keyout "$here/issued.key" -out issued.csr
: > index.txt # of another authority
openssl ca -config ca.cnf -batch -notext $dates -cert "$here/issuing.pem" -keyfile issuing.key \
    -in issued.csr -extensions server -out "$here/issued.pem"
