"""What all REST endpoints share."""
