"""`python -m memcenter` is the console command `memcenter`."""

from memcenter.command_line import main

main()
