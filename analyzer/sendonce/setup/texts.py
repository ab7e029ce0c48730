"""The texts that `sendonce init` writes. REQUIREMENT is what pip installs, as a quoted text."""

CONFIGURATION = """\
# All keys: docs/configuration.md of sendonce. What holds now, and from where: `sendonce check --show-settings`
fail-on = "warning"        # error, warning or note
min-confidence = "medium"  # high, medium or low

# What the code cannot tell; leave out what is not settled.
# [assume]
# workers = 4              # processes that serve or work
# atomic-requests = false
# redelivery = true        # providers and queues deliver again what was not acknowledged
"""

LOCAL_HOOK = """\
- repo: local
  hooks:
    - id: sendonce
      name: sendonce
      entry: sendonce check
      language: python
      additional_dependencies: [REQUIREMENT]
      pass_filenames: false
      require_serial: true
      types_or: [python, toml]
"""

GITHUB = """\
name: sendonce

on:
  push:
    branches: [main, master]
  pull_request:

permissions:
  contents: read

jobs:
  sendonce:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683 # v4.2.2
        with:
          persist-credentials: false
      - uses: actions/setup-python@a26af69be951a213d495a4c3e4e4022e16d87065 # v5.6.0
        with:
          python-version: "3.12"
      - run: python -m pip install REQUIREMENT
      - run: sendonce check --output-format github
"""

GITLAB = """\
sendonce:
  image: python:3.12-slim
  script:
    - python -m pip install REQUIREMENT
    - sendonce check --report gitlab=gl-code-quality-report.json
  artifacts:
    when: always
    reports:
      codequality: gl-code-quality-report.json
"""

AZURE = """\
trigger: [main, master]

pool:
  vmImage: ubuntu-latest

steps:
  - task: UsePythonVersion@0
    inputs:
      versionSpec: "3.12"
  - script: python -m pip install REQUIREMENT
    displayName: Install sendonce
  - script: sendonce check --report junit=sendonce.xml
    displayName: One event, one e-mail
  - task: PublishTestResults@2
    condition: succeededOrFailed()
    inputs:
      testResultsFiles: sendonce.xml
"""
