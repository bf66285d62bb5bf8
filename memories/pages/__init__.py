"""The pages of the Memory Center, without business rules."""
