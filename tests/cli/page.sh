# page.sh - sourced by tests that look at a page in a browser, after lib.sh. Afterwards: browser, or "" if there is none;
# look, and fits.
#
# The page is looked at in a frame of the width that is wanted: windows cannot be made arbitrarily narrow.
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
look() { # WIDTH PAGE SCRIPT: prints what the script says; w is the window of the page
    cat >frame.html <<END
<body><iframe id=f width=$1 height=600 style="border:0" src="$2"></iframe><script>
onload = () => { const w = document.getElementById('f').contentWindow, d = w.document;
document.body.textContent = 'said:' + (() => { $3 })() + ';'; }</script>
END
    within 60 "$browser" --headless --no-sandbox --disable-gpu --allow-file-access-from-files --user-data-dir="$work/profile" \
        --virtual-time-budget=3000 --dump-dom "file://$work/frame.html" 2>/dev/null | sed -n 's/.*said:\([^;]*\);.*/\1/p'
}
fits() { # NAME PAGE: with all its parts unfolded it is no wider than the window
    for width in 400 1200; do
        same "$1-$width" "$(look $width "$2" '
            d.querySelectorAll("details").forEach(e => e.open = true);
            return w.innerWidth + " " + (d.documentElement.scrollWidth <= w.innerWidth)')" "$width true"
    done
}
