#!/usr/bin/env python3
"""commands.py PIPELINE STEPS|AFTER - prints the shell commands of a pipeline file of examples/ci, one a line: those of the steps that
decide, or those that run afterwards in any case."""
import re
import sys


def of_github(text):
    steps, after = [], []
    for step in re.split(r'^      - ', text, flags=re.M)[1:]:
        block = re.search(r'^        run: \|\n((?: {10}.*\n)+)', step, re.M)
        if block:
            (after if '!cancelled()' in step else steps).extend(block.group(1).split('\n'))
    return steps, after


def of_gitlab(text):
    parts = [re.search(rf'^  {name}:\n((?:    - .*\n)+)', text, re.M).group(1) for name in ('script', 'after_script')]
    return [re.findall(r'- (.*)', part) for part in parts]


def of_jenkins(text):
    before, _, after = text.partition('post {')
    return [re.findall(r"sh '(.*)'", part) for part in (before, after)]


def main():
    path, which = sys.argv[1:]
    with open(path, encoding='utf-8') as f:
        text = f.read()
    read = of_github if 'github' in path else of_gitlab if 'gitlab' in path else of_jenkins
    for command in read(text)[which == 'AFTER']:
        if command.strip():
            print(command.strip())


main()
