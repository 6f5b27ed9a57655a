# Accounts and tables; $1 is the directory with the programs.
sh "$1/accounts.sh"
cp "$1/crontab" /usr/local/sbin/crontab
chmod 755 /usr/local/sbin/crontab
mkdir -p /var/spool/cron/crontabs
cat > /var/spool/cron/crontabs/ann <<'END'
# mine:  kept as it is
PATH=/bin
5 4 * * *	tabbed	job  # with blanks  
@daily mine

# Lines below here are managed by Salt, do not edit
MAILTO=ann
# the first one SALT_CRON_IDENTIFIER:first
0 1 * * * /bin/first
#DISABLED#0 2 * * * /bin/off
# of no name
# in two lines
0 3 * * * /bin/third
# SALT_CRON_IDENTIFIER:boot
@reboot /bin/boot
5 5 * * * x=1 /bin/equal
END
