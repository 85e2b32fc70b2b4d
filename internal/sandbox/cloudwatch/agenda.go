package cloudwatch

import (
	"container/heap"
	"time"
)

// agenda holds the alarms in order of what is due next: an evaluation of a metric
// alarm, the end of a suppression period of a composite alarm.
type agenda []*record

func (a agenda) Len() int           { return len(a) }
func (a agenda) Less(i, j int) bool { return a[i].due.Before(a[j].due) }

func (a agenda) Swap(i, j int) {
	a[i], a[j] = a[j], a[i]
	a[i].place, a[j].place = i, j
}

func (a *agenda) Push(x any) {
	r := x.(*record)
	r.place = len(*a)
	*a = append(*a, r)
}

func (a *agenda) Pop() any {
	n := len(*a) - 1
	r := (*a)[n]
	(*a)[n] = nil
	*a = (*a)[:n]
	r.place = -1
	return r
}

// appoint sets when the alarm is due next. The caller holds mu.
func (c *CloudWatch) appoint(r *record, at time.Time) {
	r.due = at
	if r.place < 0 {
		heap.Push(&c.agenda, r)
	} else {
		heap.Fix(&c.agenda, r.place)
	}
	if r.place == 0 {
		c.ring()
	}
}

// ring wakes keepAgenda.
func (c *CloudWatch) ring() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// dismiss takes the alarm off the agenda. The caller holds mu.
func (c *CloudWatch) dismiss(r *record) {
	if r.place >= 0 {
		heap.Remove(&c.agenda, r.place)
	}
}

// idle is how long the agenda sleeps when it is empty.
const idle = time.Hour

// keepAgenda does what is due until Close.
func (c *CloudWatch) keepAgenda() {
	for {
		timer := c.w.Clock.AfterFunc(c.work(), c.ring)
		select {
		case <-c.wake:
			timer.Stop()
		case <-c.ctx.Done():
			timer.Stop()
			return
		}
	}
}

// work does all that is due and returns the time until the next appointment.
func (c *CloudWatch) work() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		now := c.w.Clock.Now()
		if len(c.agenda) == 0 {
			return idle
		}
		r := c.agenda[0]
		if r.due.After(now) {
			return r.due.Sub(now)
		}
		c.arrive(now)
		if r.metric == nil {
			c.dismiss(r)
			c.suppressionEnds(r, now)
			continue
		}
		due := r.due
		// An evaluation that comes late keeps its place in time; what was
		// missed altogether is left out.
		next := r.plan.schedule.Next(now)
		if late := next.Add(-r.plan.schedule.Step()); late.After(due) {
			due = late
		}
		c.appoint(r, next)
		c.evaluate(r, due, now)
	}
}
