import { signal } from '@preact/signals';

type Step = readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number, fewerThan: number];

const years: Step = ['year', 86_400 * 365, Number.POSITIVE_INFINITY];
const steps: readonly Step[] = [
  ['second', 1, 60],
  ['minute', 60, 60],
  ['hour', 3600, 24],
  ['day', 86_400, 30],
  ['month', 86_400 * 30, 12],
  years,
];

const relative = new Intl.RelativeTimeFormat('en', { style: 'short' });
/** `now` is so at once; `yesterday` may be the day before it, a day and a half ago. */
const relativeSeconds = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });

/** `2 min. ago`, as seen from `now` (ms). */
const agoText = (at: number, now: number): string => {
  const seconds = (at - now) / 1000;
  const [unit, length] = steps.find(([, of, most]) => Math.round(Math.abs(seconds) / of) < most) ?? years;
  return (unit === 'second' ? relativeSeconds : relative).format(Math.round(seconds / length), unit);
};

const everyMs = 10_000;

/** When it was last looked how long ago everything is, in ms since 1970: what is on the screen grows older there. */
const looked = signal(Date.now());
const look = () => {
  if (!document.hidden) looked.value = Date.now();
};
setInterval(look, everyMs);
document.addEventListener('visibilitychange', look);

const exact = new Intl.DateTimeFormat('en-CA', {
  ...{ year: 'numeric', month: '2-digit', day: '2-digit' },
  ...{ hour: '2-digit', minute: '2-digit', hour12: false },
});

/** A moment of the app's data, in the reader's time zone. The tooltip has it in UTC. */
export const Moment = ({ at }: { readonly at: string }) => (
  <time dateTime={at} title={at}>
    {exact.format(Date.parse(at)).replace(',', '')}
  </time>
);

/** A moment: how long ago it was, exactly where the reader points. */
export const Time = ({ at }: { readonly at: string | null }) =>
  at === null ? (
    <span class="muted">–</span>
  ) : (
    <time dateTime={at} title={at}>
      {agoText(Date.parse(at), Math.max(looked.value, Date.now()))}
    </time>
  );
