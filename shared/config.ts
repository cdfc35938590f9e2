import * as v from 'valibot';

/** Parses one feature's settings from the environment on first use and remembers them. */
const lazily = <const S extends v.GenericSchema>(feature: string, schema: S) => {
  let settings: v.InferOutput<S> | undefined;
  return (): v.InferOutput<S> => {
    if (settings === undefined) {
      const parsed = v.safeParse(schema, process.env);
      if (!parsed.success) {
        const [issue] = parsed.issues;
        throw new Error(`Settings of ${feature}: ${v.getDotPath(issue) ?? ''} ${issue.message}`);
      }
      settings = parsed.output;
    }
    return settings;
  };
};

const count = (fallback: string) =>
  v.pipe(v.optional(v.string(), fallback), v.regex(/^\d{1,9}$/, 'must be a whole number'), v.transform(Number));

/** Requests per 15 minutes; `RATE_LIMIT=0` turns all limits off. */
export const rateLimits = lazily(
  'rate limits',
  v.object({ RATE_LIMIT: count('100'), AUTH_RATE_LIMIT: count('60'), CREDENTIAL_RATE_LIMIT: count('20') }),
);

/** Where MongoDB is: `MONGODB_URI` directly (local), or the secret that holds it (deployed). */
export const mongoSettings = lazily(
  'MongoDB',
  v.object({
    MONGODB_URI: v.optional(v.string()),
    MONGODB_SECRET_ARN: v.optional(v.string()),
    CONTROL_DATABASE: v.optional(v.string(), 'control'),
  }),
);

/** The one DynamoDB table. The SDK itself reads region, credentials and `AWS_ENDPOINT_URL_DYNAMODB`. */
export const tableSettings = lazily('DynamoDB', v.object({ TABLE_NAME: v.optional(v.string(), 'basalt') }));

/** The master key: 32 bytes in base64, directly (local) or as the secret that holds it (deployed). */
export const keySettings = lazily(
  'the encryption key',
  v.object({ ENCRYPTION_KEY: v.optional(v.string()), ENCRYPTION_SECRET_ARN: v.optional(v.string()) }),
);

/** How passwords are hashed: the bcrypt cost, 4 to 15. */
export const passwordSettings = lazily(
  'passwords',
  v.object({
    PASSWORD_COST: v.pipe(count('12'), v.minValue(4, 'must be at least 4'), v.maxValue(15, 'must be at most 15')),
  }),
);

/** Addresses the service itself has, and the dashboard's own settings. */
export const serviceSettings = lazily(
  'the service',
  v.object({
    /** Base address of the public API: issuer of tokens, prefix of links. */
    PUBLIC_URL: v.optional(v.string(), 'http://127.0.0.1:4000'),
    /** Lifetime of a dashboard access token in seconds. */
    DASHBOARD_TOKEN_SECONDS: count('900'),
  }),
);

const address = (fallback: string) => v.optional(v.pipe(v.string(), v.url('must be a URL')), fallback);

/** Where the identity providers are; only the local emulation and tests set other places than the real ones. */
export const socialSettings = lazily(
  'social sign-in',
  v.object({
    GITHUB_URL: address('https://github.com'),
    GITHUB_API_URL: address('https://api.github.com'),
    GOOGLE_AUTHORIZATION_URL: address('https://accounts.google.com/o/oauth2/v2/auth'),
    GOOGLE_TOKEN_URL: address('https://oauth2.googleapis.com/token'),
    GOOGLE_USERINFO_URL: address('https://openidconnect.googleapis.com/v1/userinfo'),
  }),
);

export const logSettings = lazily(
  'the log',
  v.object({ LOG: v.optional(v.picklist(['info', 'debug', 'silent']), 'info') }),
);

/** The queue on which mails wait. The SDK itself reads region, credentials and `AWS_ENDPOINT_URL_SQS`. */
export const mailQueueSettings = lazily('the mail queue', v.object({ MAIL_QUEUE_URL: v.string() }));

/** How mails are delivered: the provider (Resend, or what speaks its language), its key, and who they are from. */
export const mailSettings = lazily(
  'mail',
  v.object({
    MAIL_PROVIDER_URL: v.optional(v.string(), 'https://api.resend.com'),
    MAIL_PROVIDER_KEY: v.optional(v.string()),
    MAIL_PROVIDER_SECRET_ARN: v.optional(v.string()),
    /** An address, or `Name <address>`. */
    EMAIL_FROM: v.optional(v.string(), 'Basalt <onboarding@resend.dev>'),
    /** Seconds from the first failed try to the second; each further wait is three times as long. */
    MAIL_RETRY_SECONDS: count('10'),
  }),
);
