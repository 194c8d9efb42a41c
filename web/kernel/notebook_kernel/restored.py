"""Updates Python that started from a memory snapshot, perhaps of another machine."""

import locale
import logging
import os
import random
import sys
import time


def update(language: str, browser: str) -> None:
    """Set what Python reads from the browser only when it starts.

    ``language`` is the browser's language as in LANG, and ``browser`` its name. The page has
    already updated the time zone of the C library.
    """
    # Otherwise each boot would begin with the same random numbers.
    random.seed()
    logging._startTime = time.time_ns()
    os.environ["LANG"] = language
    locale.setlocale(locale.LC_CTYPE, "")
    release, _, *more = sys._emscripten_info
    sys._emscripten_info = type(sys._emscripten_info)((release, browser, *more))
    if sys.path[:2] == ["", ""]:  # each start adds one
        del sys.path[0]
    _update_zone()


def _update_zone() -> None:
    year = time.localtime().tm_year
    days = [time.localtime(time.mktime((year, month, 1, 0, 0, 0, 0, 0, -1))) for month in (1, 7)]
    # In the southern hemisphere, January has summer time.
    standard, summer = sorted(days, key=lambda day: day.tm_gmtoff)
    time.timezone, time.altzone = -standard.tm_gmtoff, -summer.tm_gmtoff
    time.daylight = int(time.timezone != time.altzone)
    time.tzname = (standard.tm_zone, summer.tm_zone)
