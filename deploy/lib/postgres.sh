# shellcheck shell=bash
# A private PostgreSQL for one run: its own data directory, a Unix socket nobody else can reach, no TCP port.
# To be sourced. The caller installs the trap that calls remove_postgres.
#
#     start_postgres [setting=value…]    sets and exports PGHOST and PGUSER, so that psql finds the server
#     stop_postgres                      stops it; its files stay in $postgres_directory
#     remove_postgres                    stops it and removes its files

postgres_directory=""

# Prints the newest installed PostgreSQL's directory of programs, 15 or later.
postgres_programs() {
    local directory newest=0 version
    for directory in /usr/lib/postgresql/*/bin; do
        version=${directory#/usr/lib/postgresql/}
        version=${version%/bin}
        if [[ $version =~ ^[0-9]+$ && -x $directory/initdb ]] && ((version > newest)); then
            newest=$version
        fi
    done
    if ((newest < 15)); then
        echo "No PostgreSQL server of version 15 or later in /usr/lib/postgresql; run deploy/setup." >&2
        return 1
    fi
    echo "/usr/lib/postgresql/$newest/bin"
}

# The server refuses to run as root; then its files belong to the user postgres that Debian's package made.
# Started from /, since that user may not be allowed into the caller's folder.
as_postgres() {
    if ((EUID == 0)); then
        (cd / && exec runuser -u postgres -- "$@")
    else
        "$@"
    fi
}

start_postgres() {
    local programs setting
    programs=$(postgres_programs) || return 1
    # In /tmp whatever TMPDIR says: the path of a socket may have 107 bytes only, and every parent directory must be
    # open to the user postgres.
    postgres_directory=$(mktemp -d /tmp/push-fanout-postgres.XXXXXXXX)
    if ((EUID == 0)); then
        chown postgres: "$postgres_directory"
    fi
    as_postgres "$programs/initdb" --pgdata="$postgres_directory/data" --username=postgres --auth=trust \
        --encoding=UTF8 --locale=C.UTF-8 --no-sync >"$postgres_directory/initdb.log" 2>&1 || {
        cat "$postgres_directory/initdb.log" >&2
        return 1
    }
    {
        echo "listen_addresses = ''"
        echo "unix_socket_directories = '$postgres_directory'"
        echo "max_connections = 200"
        echo "timezone = 'UTC'"
        echo "log_line_prefix = '%m [%p] %u@%d '"
        for setting in "$@"; do
            echo "$setting"
        done
    } | as_postgres tee -a "$postgres_directory/data/postgresql.conf" >/dev/null
    as_postgres "$programs/pg_ctl" start --pgdata="$postgres_directory/data" --silent --wait --timeout=60 \
        --log="$postgres_directory/server.log" </dev/null >/dev/null || {
        tail -n 20 "$postgres_directory/server.log" >&2
        return 1
    }
    export PGHOST="$postgres_directory" PGUSER=postgres
    unset PGPORT PGDATABASE PGPASSWORD PGSERVICE PGOPTIONS PGHOSTADDR
}

# Both are safe to call at any time, also twice and after a start that failed half-way.
stop_postgres() {
    local data=$postgres_directory/data programs
    [[ -f $data/postmaster.pid ]] && programs=$(postgres_programs) || return 0
    as_postgres "$programs/pg_ctl" stop --pgdata="$data" --silent --mode=fast --timeout=20 >/dev/null 2>&1 ||
        as_postgres "$programs/pg_ctl" stop --pgdata="$data" --silent --mode=immediate --timeout=20 ||
        echo "PostgreSQL in $postgres_directory did not stop" >&2
}

remove_postgres() {
    [[ -n $postgres_directory ]] || return 0
    stop_postgres
    rm -rf -- "$postgres_directory"
    postgres_directory=""
}
