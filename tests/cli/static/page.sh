# Sourced by run.sh: the page in a browser. It fits windows of every width, and its filter works.
. "$here/../page.sh"
if [ -z "$browser" ]; then
    echo "skip cli/static/page: there is no browser"
    return
fi
names=$(printf 'std::vector<long_name_of_a_class<with_arguments>>%.0s' 1 2 3 4 5 6)
program wide odd
run --format=html --style=sound --output=wide.html ./wide
sed "s/<code>/<code>$(printf %s "$names" | sed 's/</\\\&lt;/g')/" wide.html >longer.html
for page in wide.html longer.html page.html; do
    fits "page-fits-$page" $page
done
same page-filter "$(look 800 page.html '
    const q = d.getElementById("q"), shown = () => [...d.querySelectorAll(".p")].filter(p => !p.hidden).length, all = shown();
    q.value = "done"; q.dispatchEvent(new w.Event("input"));
    return all + " " + shown() + " " + d.getElementById("c").textContent')" "4 1 1 pair"
