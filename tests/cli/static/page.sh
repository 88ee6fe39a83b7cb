# Sourced by run.sh: the page in a browser. It fits windows of every width, and its filter works.
#
# The page is looked at in a frame of the width that is wanted: windows cannot be made arbitrarily narrow.
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -z "$browser" ]; then
    echo "skip cli/static/page: there is no browser"
    return
fi
names=$(printf 'std::vector<long_name_of_a_class<with_arguments>>%.0s' 1 2 3 4 5 6)
program wide odd
run --format=html --style=sound --output=wide.html ./wide
sed "s/<code>/<code>$(printf %s "$names" | sed 's/</\\\&lt;/g')/" wide.html >longer.html
look() { # WIDTH PAGE SCRIPT: prints what the script says; w is the window of the page
    cat >frame.html <<END
<body><iframe id=f width=$1 height=600 style="border:0" src="$2"></iframe><script>
onload = () => { const w = document.getElementById('f').contentWindow, d = w.document;
document.body.textContent = 'said:' + (() => { $3 })() + ';'; }</script>
END
    within 60 "$browser" --headless --no-sandbox --disable-gpu --allow-file-access-from-files --user-data-dir="$work/profile" \
        --virtual-time-budget=3000 --dump-dom "file://$work/frame.html" 2>/dev/null | sed -n 's/.*said:\([^;]*\);.*/\1/p'
}
for page in wide.html longer.html page.html; do
    for width in 400 1200; do
        same "page-fits-$page-$width" "$(look $width $page '
            d.querySelectorAll("details").forEach(e => e.open = true);
            return w.innerWidth + " " + (d.documentElement.scrollWidth <= w.innerWidth)')" "$width true"
    done
done
same page-filter "$(look 800 page.html '
    const q = d.getElementById("q"), shown = () => [...d.querySelectorAll(".p")].filter(p => !p.hidden).length, all = shown();
    q.value = "done"; q.dispatchEvent(new w.Event("input"));
    return all + " " + shown() + " " + d.getElementById("c").textContent')" "4 1 1 pair"
