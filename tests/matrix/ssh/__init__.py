"""lockterm through a real ssh and sshd, over a link that stalls and breaks."""
