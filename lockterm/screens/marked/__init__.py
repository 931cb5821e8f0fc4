"""The commands on marked remotes, which several screens share."""
