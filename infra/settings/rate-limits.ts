/** The limits of sign-in follow that of all requests where they are not given, by the same shares as locally. */
const shares = { authRateLimit: 0.6, credentialRateLimit: 0.2 } as const;

interface Given {
  readonly rateLimit: string;
  readonly authRateLimit?: string | undefined;
  readonly credentialRateLimit?: string | undefined;
}

type Followed<S extends Given> = Omit<S, keyof typeof shares> & Readonly<Record<keyof typeof shares, string>>;

/** Settings with every rate limit, in requests in 15 minutes from one address. */
export const withRateLimits = <S extends Given>(settings: S): Followed<S> => {
  const share = (name: keyof typeof shares): string =>
    settings[name] ?? String(Math.ceil(Number(settings.rateLimit) * shares[name]));
  return {
    ...settings,
    authRateLimit: share('authRateLimit'),
    credentialRateLimit: share('credentialRateLimit'),
  };
};
