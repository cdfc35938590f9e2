const steps: readonly (readonly [seconds: number, unit: Intl.RelativeTimeFormatUnit])[] = [
  [60, 'second'],
  [3600, 'minute'],
  [86_400, 'hour'],
  [86_400 * 30, 'day'],
  [86_400 * 365, 'month'],
  [Number.POSITIVE_INFINITY, 'year'],
];
const unitSeconds = { second: 1, minute: 60, hour: 3600, day: 86_400, month: 86_400 * 30, year: 86_400 * 365 } as const;

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });

/** `2 min. ago`, as seen from `now` (ms). */
export const agoText = (at: number, now: number): string => {
  const seconds = Math.round((at - now) / 1000);
  const [, unit = 'year'] = steps.find(([limit]) => Math.abs(seconds) < limit) ?? [];
  return relative.format(Math.round(seconds / unitSeconds[unit as keyof typeof unitSeconds]), unit);
};

/** A moment: how long ago it was, exactly where the reader points. */
export const Time = ({ at }: { readonly at: string | null }) =>
  at === null ? (
    <span class="muted">–</span>
  ) : (
    <time dateTime={at} title={at}>
      {agoText(Date.parse(at), Date.now())}
    </time>
  );
