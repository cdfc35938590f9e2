/** The one source of the current time; tests replace `now` to move it. Milliseconds since 1970. */
export const clock = { now: (): number => Date.now() };

export const dayMs = 86_400_000;

/** The current time in whole seconds since 1970, the unit of DynamoDB's `expiresAt` and of JWT claims. */
export const nowSeconds = (): number => Math.floor(clock.now() / 1000);
