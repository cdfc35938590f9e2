import * as v from 'valibot';
import manifest from '../../package.json' with { type: 'json' };

/** Parses one feature's settings from the environment at first use. */
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

/**
 * Requests per 15 minutes; 0 means no limit. `RATE_BLOCK`: how many a process counts at a time; 0 means a thousandth of
 * the limit. `VIEWER_SECRET`: a proxy that sends it may name the client's address.
 */
export const rateLimits = lazily(
  'rate limits',
  v.object({
    RATE_LIMIT: count('100'),
    AUTH_RATE_LIMIT: count('60'),
    CREDENTIAL_RATE_LIMIT: count('20'),
    RATE_BLOCK: count('0'),
    VIEWER_SECRET: v.optional(v.string(), ''),
  }),
);

/** `MONGODB_URI` is set locally; a deployment has the secret that contains it. */
export const mongoSettings = lazily(
  'MongoDB',
  v.object({
    MONGODB_URI: v.optional(v.string()),
    MONGODB_SECRET_ARN: v.optional(v.string()),
    CONTROL_DATABASE: v.optional(v.string(), 'control'),
  }),
);

const ofAws = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new Error(`Settings of AWS: ${name} is not set`);
  return value;
};

export const awsRegion = (): string => ofAws('AWS_REGION');

/** The credentials that sign requests to AWS, with a `sessionToken` in Lambda. */
export const awsCredentials = () => ({
  accessKeyId: ofAws('AWS_ACCESS_KEY_ID'),
  secretAccessKey: ofAws('AWS_SECRET_ACCESS_KEY'),
  ...(process.env.AWS_SESSION_TOKEN && { sessionToken: process.env.AWS_SESSION_TOKEN }),
});

/** A service's address: `AWS_ENDPOINT_URL_…`, `AWS_ENDPOINT_URL` or the regional default, as in the SDK. */
export const awsAddress = (service: string, name = service.toUpperCase()): string =>
  process.env[`AWS_ENDPOINT_URL_${name}`] ||
  process.env.AWS_ENDPOINT_URL ||
  `https://${service}.${awsRegion()}.amazonaws.com${awsRegion().startsWith('cn-') ? '.cn' : ''}`;

export const tableSettings = lazily('DynamoDB', v.object({ TABLE_NAME: v.optional(v.string(), 'basalt') }));

/** The master key, 32 bytes in base64: set locally, in a secret in a deployment. */
export const keySettings = lazily(
  'the encryption key',
  v.object({ ENCRYPTION_KEY: v.optional(v.string()), ENCRYPTION_SECRET_ARN: v.optional(v.string()) }),
);

/** The bcrypt cost, 4 to 15. */
export const passwordSettings = lazily(
  'passwords',
  v.object({
    PASSWORD_COST: v.pipe(count('12'), v.minValue(4, 'must be at least 4'), v.maxValue(15, 'must be at most 15')),
  }),
);

export const serviceSettings = lazily(
  'the service',
  v.object({
    /** Base URL of the public API: the issuer of tokens and the prefix of links. */
    PUBLIC_URL: v.optional(v.string(), 'http://127.0.0.1:4000'),
    DASHBOARD_TOKEN_SECONDS: count('900'),
  }),
);

/** Base URL of the documentation, to which error bodies link. Functions that serve files have none. */
export const docsSettings = lazily(
  'the documents',
  v.object({ DOCS_URL: v.optional(v.pipe(v.string(), v.url('must be a URL'))) }),
);

const address = (fallback: string) => v.optional(v.pipe(v.string(), v.url('must be a URL')), fallback);

export const dashboardSettings = lazily(
  'the dashboard',
  v.object({
    /** Links in emails to developers and the end of their sign-in lead here. */
    DASHBOARD_URL: v.optional(v.pipe(v.string(), v.url('must be a URL'))),
    /** Base URL of the dashboard API. */
    DASHBOARD_API_URL: address('http://127.0.0.1:4001'),
    /** Origins of pages that may call it, separated by commas. Only their requests may use cookies. */
    DASHBOARD_ORIGINS: v.pipe(
      v.optional(v.string(), ''),
      v.transform((list) => list.split(',').filter((origin) => origin !== '')),
    ),
    DASHBOARD_GITHUB_CLIENT_ID: v.optional(v.string()),
    /** Set locally; in a secret in a deployment. */
    DASHBOARD_GITHUB_SECRET: v.optional(v.string()),
    DASHBOARD_GITHUB_SECRET_ARN: v.optional(v.string()),
  }),
);

/** With `closed`, only the operator creates developer accounts. */
export const signupSettings = lazily(
  'registration',
  v.object({ DEVELOPER_SIGNUP: v.optional(v.picklist(['open', 'closed']), 'open') }),
);

/** A service's addresses by their purpose; `GITHUB_TOKEN_URL` overrides `token` of GitHub. */
export const addressesOf = <R extends Readonly<Record<string, string>>>(service: string, real: R) => {
  const variable = (name: string): string => `${service}_${name}_URL`.toUpperCase();
  const names = Object.keys(real);
  const settings = lazily(
    service,
    v.object(Object.fromEntries(names.map((name) => [variable(name), address(real[name] ?? '')]))),
  );
  return () => Object.fromEntries(names.map((name) => [name, settings()[variable(name)]])) as R;
};

/** Seconds between writes of request statistics; 0 turns them off. */
export const usageSettings = lazily('usage', v.object({ USAGE_SECONDS: count('10') }));

/** Seconds until every function knows that a changes feed was turned on; 0 in a single process. */
export const feedSettings = lazily('the changes feed', v.object({ FEED_SETTLE_SECONDS: count('10') }));

/** Both addresses are missing in a deployment without live updates. */
export const realtimeSettings = lazily(
  'live updates',
  v.object({
    /** Clients connect to it: `wss://…/event/realtime`. */
    REALTIME_URL: v.optional(v.string()),
    /** Writes publish to it: `https://…/event`. */
    REALTIME_PUBLISH_URL: v.optional(v.string()),
    /** Maximum time in ms that a write waits for its publication. */
    NUDGE_MS: count('200'),
  }),
);

/** `debug` adds every database command; `silent` turns the log off. */
export const logSettings = lazily(
  'the log',
  v.object({ LOG: v.optional(v.picklist(['info', 'debug', 'silent']), 'info') }),
);

export const mailQueueSettings = lazily('the mail queue', v.object({ MAIL_QUEUE_URL: v.string() }));

/** Purges, exports and imports. */
export const workQueueSettings = lazily('the work queue', v.object({ WORK_QUEUE_URL: v.string() }));

export const webhookQueueSettings = lazily('the queue of webhooks', v.object({ WEBHOOK_QUEUE_URL: v.string() }));

/**
 * The secret of the provider's webhook, `whsec_…`, or several separated by commas during a rotation. Set locally; in a
 * secret in a deployment.
 */
export const webhookSettings = lazily(
  'the mail webhook',
  v.object({ MAIL_WEBHOOK_SECRET: v.optional(v.string()), MAIL_WEBHOOK_SECRET_ARN: v.optional(v.string()) }),
);

/** The provider is Resend or has its API. */
export const mailSettings = lazily(
  'mail',
  v.object({
    MAIL_PROVIDER_URL: v.optional(v.string(), 'https://api.resend.com'),
    MAIL_PROVIDER_KEY: v.optional(v.string()),
    MAIL_PROVIDER_SECRET_ARN: v.optional(v.string()),
    /** An address, or `Name <address>`. */
    EMAIL_FROM: v.optional(v.string(), 'Basalt <onboarding@resend.dev>'),
    /** Emails per second that the provider accepts from one account; 0 means no limit. */
    MAIL_PER_SECOND: count('2'),
    /** Delay before the first retry in seconds; each further delay is three times as long. */
    MAIL_RETRY_SECONDS: count('10'),
    /** Recipients per day of all projects with the shared key, without account emails; 0 means no limit. */
    MAIL_RECIPIENTS_PER_DAY: count('5000'),
    /** Account emails per day of a project with the shared key; 0 means no limit. By default the plan decides. */
    ACCOUNT_MAILS_PER_DAY: v.optional(count('0')),
  }),
);

/** Our bucket and its public origin. */
export const fileSettings = lazily(
  'files',
  v.object({
    FILES_BUCKET: v.optional(v.string(), 'basalt-files'),
    /** Serves the objects below `files/`, without that prefix in its paths. */
    FILES_URL: v.pipe(v.string(), v.url('must be a URL')),
    AWS_ENDPOINT_URL_S3: v.optional(v.string()),
  }),
);

/** The id of the key that signs links in a deployment without CloudFront. With CloudFront the table has it. */
export const linkSettings = lazily('links to files', v.object({ LINK_KEY_ID: v.optional(v.string()) }));

/** CloudFront's key group, and the prefix of our keys' names. Not set locally. */
export const keyGroupSettings = lazily(
  'keys of links',
  v.object({ LINK_KEY_GROUP: v.optional(v.string()), LINK_KEY_PREFIX: v.optional(v.string(), 'basalt') }),
);

/** Only in a deployment without CloudFront. */
export const pageSettings = lazily(
  "the console's pages",
  v.object({
    CONSOLE_BUCKET: v.string(),
    CONSOLE_POLICY: v.string(),
    AWS_ENDPOINT_URL_S3: v.optional(v.string()),
  }),
);

/** Any endpoint with OpenAI's `chat/completions`. */
export const assistantSettings = lazily(
  'the schema assistant',
  v.object({
    /** Such as `https://api.openai.com/v1`. */
    AI_BASE_URL: v.optional(v.string()),
    AI_API_KEY: v.optional(v.string()),
    AI_SECRET_ARN: v.optional(v.string()),
    AI_MODEL: v.optional(v.string(), 'gpt-4o-mini'),
    /** For both attempts together; API Gateway ends a request after 30 s. */
    AI_TIMEOUT_SECONDS: v.pipe(count('20'), v.minValue(1, 'must be at least 1'), v.maxValue(25, 'must be at most 25')),
  }),
);

export const verifierSettings = lazily('the verifiers', v.object({ VERIFIER_A: v.string(), VERIFIER_B: v.string() }));

/** The addresses from which we connect to customers' databases. */
export const egressSettings = lazily(
  'the outgoing addresses',
  v.object({
    VERIFIER_IP_A: v.optional(v.string(), '(not set up)'),
    VERIFIER_IP_B: v.optional(v.string(), '(not set up)'),
  }),
);

export const codeFolder = (): string => process.env.LAMBDA_TASK_ROOT ?? '.';

/** The environment of a child process that must not see ours: only Lambda's libraries. */
export const bareEnvironment = (): Record<string, string> => {
  const { LD_LIBRARY_PATH } = process.env;
  return LD_LIBRARY_PATH === undefined ? {} : { LD_LIBRARY_PATH };
};

/** Our name in emails, passkeys, authenticator apps and towards identity providers. */
export const serviceName = 'Basalt';

export const version: string = manifest.version;
