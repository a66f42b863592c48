#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""site_test.py SITE: serves the built site on loopback and finds a page by search, in headless Chromium."""
import functools
import http.server
import sys
import threading

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

QUERY = "manifest"
WANTED = "docs/formats/manifest/"
SECONDS = 60


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def find(driver, url):
    driver.get(url)
    assert "CompassDB" in driver.title, driver.title
    wait = WebDriverWait(driver, SECONDS)
    # Material hides the field of a narrow window; its script fills in the results either way.
    box = wait.until(lambda d: d.find_element(By.CSS_SELECTOR, "input.md-search__input"))
    driver.execute_script("arguments[0].focus()", box)
    box.send_keys(QUERY)
    link = wait.until(lambda d: next((a for a in d.find_elements(By.CSS_SELECTOR, "a.md-search-result__link")
                                      if WANTED in (a.get_attribute("href") or "")), None))
    driver.get(link.get_attribute("href"))
    heading = wait.until(lambda d: d.find_element(By.TAG_NAME, "h1")).text
    assert QUERY in heading.lower(), heading


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=sys.argv[1]))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--window-size=1400,900"):
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))
    try:
        driver.set_page_load_timeout(SECONDS)
        find(driver, "http://127.0.0.1:%d/" % server.server_address[1])
    finally:
        driver.quit()
        server.shutdown()
    print("site: a page was found by search")


if __name__ == "__main__":
    sys.exit(main())
