"""`python -m memcenter` does the same as the console command `memcenter`."""

from memcenter.command_line import main

if __name__ == "__main__":
    main()
