/** The default limits of sign-in routes, as shares of the limit of all requests. */
export const rateShares = { authRateLimit: 0.6, credentialRateLimit: 0.2 } as const;

interface Given {
  readonly rateLimit: string;
  readonly authRateLimit?: string | undefined;
  readonly credentialRateLimit?: string | undefined;
}

type Followed<S extends Given> = Omit<S, keyof typeof rateShares> & Readonly<Record<keyof typeof rateShares, string>>;

/** Fills in the rate limits that are not given. All count requests per 15 minutes from one IP address. */
export const withRateLimits = <S extends Given>(settings: S): Followed<S> => {
  const share = (name: keyof typeof rateShares): string =>
    settings[name] ?? String(Math.ceil(Number(settings.rateLimit) * rateShares[name]));
  return {
    ...settings,
    authRateLimit: share('authRateLimit'),
    credentialRateLimit: share('credentialRateLimit'),
  };
};
