#!/bin/sh
echo "checked $1"
echo
echo "changed=yes comment='looked at $2' n=1"
