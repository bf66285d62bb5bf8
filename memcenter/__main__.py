"""`python -m memcenter` is the console command `memcenter`."""

from memcenter.command_line import main

if __name__ == "__main__":
    main()
