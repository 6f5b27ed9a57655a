package top

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"brine/supervisor/stats"
)

// Tree is one daemon, or one actor with what is below it, as a table for people and pipes.
func Tree(root stats.Child, now time.Time) string {
	return table([]stats.Child{root}, now)
}

// Once is what the screen would show, as plain text.
func Once(title string, look *Look) string {
	m := newModel(context.Background(), Options{Title: title, Plain: true})
	m.take(look)
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", title, strings.Join(look.Facts, "  "))
	b.WriteString(strings.Join(m.sumTexts(), " · ") + "\n")
	for _, s := range look.Silent {
		b.WriteString("silent: " + clean(s) + "\n")
	}
	return b.String() + "\n" + table(look.Roots, look.At)
}

func table(roots []stats.Child, now time.Time) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ACTOR\tSTATE\tAGE\tRESTARTS\tWAITING\tOLDEST\tMSG/S\tBUSY\tP99\tFAILED\tLAST DEATH")
	for _, r := range rows(&Look{Roots: roots}) {
		if r.root && len(r.Children) > 0 && r.PID == "" { // a daemon has no mailbox
			fmt.Fprintf(w, "%s\t%s\t%s%s\n", clean(r.Name), r.State, since(r.Since, now), strings.Repeat("\t", 8))
			continue
		}
		fmt.Fprintf(w, "%s%s\t%s\t%s\t%d\t%d\t%s\t%s\t%s\t%s\t%d\t%s\n", r.tree, clean(r.Name), r.State, since(r.Since, now), r.Restarts, r.Mailbox,
			oldest(r, nil), perSecond(r.Rate), percent(r.Busy), p99(r.Handling), r.Failed+r.Lost, r.death(now))
	}
	_ = w.Flush() // into memory
	return TrimLines(b.String())
}

// TrimLines takes the spaces off the ends of lines.
func TrimLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}
