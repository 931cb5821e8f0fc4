"""Commands on marked remotes of any screen."""
