import * as v from 'valibot';
import manifest from '../../package.json' with { type: 'json' };

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

/**
 * Requests per 15 minutes, 0 for no limits. `RATE_BLOCK`: counted at once, 0 for a thousandth of the limit.
 * `VIEWER_SECRET`: who knows it says whose address a request is counted for.
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

/** Where MongoDB is: `MONGODB_URI` directly (local), or the secret that holds it (deployed). */
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

/** The region of this function. */
export const awsRegion = (): string => ofAws('AWS_REGION');

/** The credentials that sign requests to AWS, with a `sessionToken` in Lambda. */
export const awsCredentials = () => ({
  accessKeyId: ofAws('AWS_ACCESS_KEY_ID'),
  secretAccessKey: ofAws('AWS_SECRET_ACCESS_KEY'),
  ...(process.env.AWS_SESSION_TOKEN && { sessionToken: process.env.AWS_SESSION_TOKEN }),
});

/** Where a service of AWS is: what the SDK takes from `AWS_ENDPOINT_URL_…` or `AWS_ENDPOINT_URL`, or its own place. */
export const awsAddress = (service: string, name = service.toUpperCase()): string =>
  process.env[`AWS_ENDPOINT_URL_${name}`] ||
  process.env.AWS_ENDPOINT_URL ||
  `https://${service}.${awsRegion()}.amazonaws.com${awsRegion().startsWith('cn-') ? '.cn' : ''}`;

/** The one DynamoDB table. */
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

/** Base address of the documents, to which error bodies link; none in functions that serve files. */
export const docsSettings = lazily(
  'the documents',
  v.object({ DOCS_URL: v.optional(v.pipe(v.string(), v.url('must be a URL'))) }),
);

const address = (fallback: string) => v.optional(v.pipe(v.string(), v.url('must be a URL')), fallback);

/** The pages of the dashboard, and the app by which developers sign in with GitHub; both may be left out. */
export const dashboardSettings = lazily(
  'the dashboard',
  v.object({
    /** Where links of mails to developers lead, and where their sign-ins end. */
    DASHBOARD_URL: v.optional(v.pipe(v.string(), v.url('must be a URL'))),
    /** Base address of the dashboard API itself. */
    DASHBOARD_API_URL: address('http://127.0.0.1:4001'),
    /** Origins of the pages that may call it, separated by commas; of their requests alone cookies count. */
    DASHBOARD_ORIGINS: v.pipe(
      v.optional(v.string(), ''),
      v.transform((list) => list.split(',').filter((origin) => origin !== '')),
    ),
    DASHBOARD_GITHUB_CLIENT_ID: v.optional(v.string()),
    /** Directly (local), or as the secret that holds it (deployed). */
    DASHBOARD_GITHUB_SECRET: v.optional(v.string()),
    DASHBOARD_GITHUB_SECRET_ARN: v.optional(v.string()),
  }),
);

/** Whether strangers may open developer accounts: `closed` leaves that to the operator. */
export const signupSettings = lazily(
  'registration',
  v.object({ DEVELOPER_SIGNUP: v.optional(v.picklist(['open', 'closed']), 'open') }),
);

/** Addresses of a service by what they are for; `GITHUB_TOKEN_URL` stands for another place of `token`. */
export const addressesOf = <R extends Readonly<Record<string, string>>>(service: string, real: R) => {
  const variable = (name: string): string => `${service}_${name}_URL`.toUpperCase();
  const names = Object.keys(real);
  const settings = lazily(
    service,
    v.object(Object.fromEntries(names.map((name) => [variable(name), address(real[name] ?? '')]))),
  );
  return () => Object.fromEntries(names.map((name) => [name, settings()[variable(name)]])) as R;
};

/** Seconds for which a process holds what it counts of requests before it writes it down; 0 counts nothing. */
export const usageSettings = lazily('usage', v.object({ USAGE_SECONDS: count('10') }));

/** Seconds until every function knows that a changes feed was switched on; 0 where one process has all functions. */
export const feedSettings = lazily('the changes feed', v.object({ FEED_SETTLE_SECONDS: count('10') }));

/** The Event API of live updates; neither is there where it is not deployed. */
export const realtimeSettings = lazily(
  'live updates',
  v.object({
    /** Where clients listen, `wss://…/event/realtime`. */
    REALTIME_URL: v.optional(v.string()),
    /** Where nudges are published, `https://…/event`. */
    REALTIME_PUBLISH_URL: v.optional(v.string()),
    /** How long a write waits at most until its nudges are taken. */
    NUDGE_MS: count('200'),
  }),
);

/** What is logged: `debug` adds every database command, `silent` turns the log off. */
export const logSettings = lazily(
  'the log',
  v.object({ LOG: v.optional(v.picklist(['info', 'debug', 'silent']), 'info') }),
);

/** The queue on which mails wait. */
export const mailQueueSettings = lazily('the mail queue', v.object({ MAIL_QUEUE_URL: v.string() }));

/** The queue of what is done apart from any request: purges, exports, imports. */
export const workQueueSettings = lazily('the work queue', v.object({ WORK_QUEUE_URL: v.string() }));

/** The queue that says which projects' webhooks are to be looked at. */
export const webhookQueueSettings = lazily('the queue of webhooks', v.object({ WEBHOOK_QUEUE_URL: v.string() }));

/**
 * What the mail provider signs its events with: one `whsec_…`, or several while one is replaced, directly (local) or as
 * the secret that holds them (deployed).
 */
export const webhookSettings = lazily(
  'the mail webhook',
  v.object({ MAIL_WEBHOOK_SECRET: v.optional(v.string()), MAIL_WEBHOOK_SECRET_ARN: v.optional(v.string()) }),
);

/** How mails are delivered: the provider (Resend, or what speaks its language), its key, and who they are from. */
export const mailSettings = lazily(
  'mail',
  v.object({
    MAIL_PROVIDER_URL: v.optional(v.string(), 'https://api.resend.com'),
    MAIL_PROVIDER_KEY: v.optional(v.string()),
    MAIL_PROVIDER_SECRET_ARN: v.optional(v.string()),
    /** An address, or `Name <address>`. */
    EMAIL_FROM: v.optional(v.string(), 'Basalt <onboarding@resend.dev>'),
    /** Mails a second that the provider takes of one account; 0 for as many as there are. */
    MAIL_PER_SECOND: count('2'),
    /** Seconds from the first failed try to the second; each further wait is three times as long. */
    MAIL_RETRY_SECONDS: count('10'),
    /**
     * Addresses that mails of all projects may go to a day with the shared key, without account mails; 0: any number.
     */
    MAIL_RECIPIENTS_PER_DAY: count('5000'),
    /** Account mails that a project may send a day with the shared key, 0 for any number; else as its plan allows. */
    ACCOUNT_MAILS_PER_DAY: v.optional(count('0')),
  }),
);

/** Our bucket, and its public origin; where `AWS_ENDPOINT_URL_S3` is set, buckets stand in paths. */
export const fileSettings = lazily(
  'files',
  v.object({
    FILES_BUCKET: v.optional(v.string(), 'basalt-files'),
    /** Serves the objects below `files/` without that prefix. */
    FILES_URL: v.pipe(v.string(), v.url('must be a URL')),
    AWS_ENDPOINT_URL_S3: v.optional(v.string()),
  }),
);

/** Whose key signs links to files: the one that CloudFront has by the table, or, without CloudFront, the only one. */
export const linkSettings = lazily('links to files', v.object({ LINK_KEY_ID: v.optional(v.string()) }));

/** CloudFront's group of the keys that open links, and what the names of ours begin with; nothing locally. */
export const keyGroupSettings = lazily(
  'keys of links',
  v.object({ LINK_KEY_GROUP: v.optional(v.string()), LINK_KEY_PREFIX: v.optional(v.string(), 'basalt') }),
);

/** The bucket of the console's pages, and the policy that they are given, in a deployment without CloudFront. */
export const pageSettings = lazily(
  "the console's pages",
  v.object({
    CONSOLE_BUCKET: v.string(),
    CONSOLE_POLICY: v.string(),
    AWS_ENDPOINT_URL_S3: v.optional(v.string()),
  }),
);

/** The language model of the schema assistant, any endpoint that speaks OpenAI's `chat/completions`; or none. */
export const assistantSettings = lazily(
  'the schema assistant',
  v.object({
    /** Such as `https://api.openai.com/v1`. */
    AI_BASE_URL: v.optional(v.string()),
    AI_API_KEY: v.optional(v.string()),
    AI_SECRET_ARN: v.optional(v.string()),
    AI_MODEL: v.optional(v.string(), 'gpt-4o-mini'),
    /** For both tries together; a gateway waits 30 s. */
    AI_TIMEOUT_SECONDS: v.pipe(count('20'), v.minValue(1, 'must be at least 1'), v.maxValue(25, 'must be at most 25')),
  }),
);

/** The functions that verify own databases. */
export const verifierSettings = lazily('the verifiers', v.object({ VERIFIER_A: v.string(), VERIFIER_B: v.string() }));

/** The addresses that connections to customers' databases come from. */
export const egressSettings = lazily(
  'the outgoing addresses',
  v.object({
    VERIFIER_IP_A: v.optional(v.string(), '(not set up)'),
    VERIFIER_IP_B: v.optional(v.string(), '(not set up)'),
  }),
);

/** Lambda's folder of the function's code. */
export const codeFolder = (): string => process.env.LAMBDA_TASK_ROOT ?? '.';

/** All that a child process gets of our environment if it may see nothing of ours: where Lambda's libraries are. */
export const bareEnvironment = (): Record<string, string> => {
  const { LD_LIBRARY_PATH } = process.env;
  return LD_LIBRARY_PATH === undefined ? {} : { LD_LIBRARY_PATH };
};

/** What we are called: by mails to developers, passkeys and authenticator apps, and towards identity providers. */
export const serviceName = 'Basalt';

export const version: string = manifest.version;
