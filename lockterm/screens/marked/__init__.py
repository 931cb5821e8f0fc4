"""The commands on marked remotes of any screen."""
