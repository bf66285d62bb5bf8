"""The pages of the Memory Center. They call the rooms of this app and decide nothing."""
