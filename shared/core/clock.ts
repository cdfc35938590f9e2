/** The only source of the current time, in ms since 1970. Tests replace `now`. */
export const clock = { now: (): number => Date.now() };

export const dayMs = 86_400_000;

/** In seconds since 1970, the unit of DynamoDB's `expiresAt` and of JWT claims. */
export const nowSeconds = (): number => Math.floor(clock.now() / 1000);

/** A period in UTC in which something is counted. */
export interface Window {
  /** `yyyy-mm-dd`, `yyyy-mm`, or `yyyy-mm-ddThh`. */
  readonly name: string;
  /** In ms since 1970. */
  readonly endsAt: number;
}

const hourMs = 3600_000;
export const hourAt = (time: number): Window => ({
  name: new Date(time).toISOString().slice(0, 13),
  endsAt: time - (time % hourMs) + hourMs,
});

export const dayAt = (time: number): Window => ({
  name: new Date(time).toISOString().slice(0, 10),
  endsAt: time - (time % dayMs) + dayMs,
});

export const monthAt = (time: number): Window => {
  const date = new Date(time);
  return {
    name: date.toISOString().slice(0, 7),
    endsAt: Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1),
  };
};

/** At least 1. */
export const secondsLeft = ({ endsAt }: Window, now: number): number => Math.max(1, Math.ceil((endsAt - now) / 1000));

/** When an item of a window expires, in seconds since 1970: a day after the window ends. */
export const expiryOf = ({ endsAt }: Window): number => Math.ceil((endsAt + dayMs) / 1000);
