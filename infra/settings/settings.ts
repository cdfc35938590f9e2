import type { Node } from 'constructs';
import * as v from 'valibot';
import { DeployProblem } from './deploy-problem.ts';
import { withRateLimits } from './rate-limits.ts';
import { requireConsistent } from './setting-rules.ts';
import {
  baseUrl,
  certificate,
  clientId,
  domain,
  edgeCertificate,
  followingRequests,
  hostedZone,
  label,
  mailAddress,
  modelName,
  monthlyBudget,
  origins,
  pageUrl,
  requests,
  sender,
  wholeNumber,
} from './setting-values.ts';

/** The retention periods of CloudWatch, in days. */
const logDays = ['1', '3', '5', '7', '14', '30', '60', '90', '120', '150', '180', '365', '400', '545', '731'] as const;

const settings = v.object({
  /** The prefix of every stack's name. One account can hold several deployments. */
  deployment: v.optional(
    v.pipe(v.string(), v.regex(/^[A-Z][A-Za-z0-9]{0,30}$/, 'must be a name such as Basalt')),
    'Basalt',
  ),

  rateLimit: requests(100),
  /** Default: 0.6 of `rateLimit`. */
  authRateLimit: followingRequests,
  /** Default: 0.2 of `rateLimit`. */
  credentialRateLimit: followingRequests,
  /** Requests counted by one write; 0 for a thousandth of each limit, which counts limits under 2000 one by one. */
  rateBlock: requests(0),
  /** Requests per second through each gateway, for all callers together. */
  publicRequestsPerSecond: wholeNumber(5000, 1, 100_000),
  dashboardRequestsPerSecond: wholeNumber(500, 1, 100_000),

  /** The account's quota of concurrent function runs. */
  accountConcurrency: wholeNumber(1000, 1, 1_000_000),
  /** Connections that the MongoDB cluster allows; 0 leaves them unbounded. */
  mongoConnections: wholeNumber(0, 0, 1_000_000),
  /** Provisioned writes per second of the table, paid by the hour; 0 pays per request. */
  tableWritesPerSecond: wholeNumber(0, 0, 1_000_000),
  /** `nat`: functions connect to MongoDB from two fixed addresses. */
  egress: v.optional(v.picklist(['none', 'nat'], 'must be none or nat'), 'none'),

  /**
   * `off`: without CloudFront, because AWS has not verified the account yet. `added`: with CloudFront added later; the
   * addresses from before keep working.
   */
  cloudFront: v.optional(v.picklist(['on', 'off', 'added'], 'must be on, off or added'), 'on'),
  /** `closed`: only `npm run add-developer` creates developer accounts. */
  developerSignup: v.optional(v.picklist(['open', 'closed'], 'must be open or closed'), 'open'),
  /** `off`: no live updates and no cost for them; clients poll for changes. */
  realtime: v.optional(v.picklist(['on', 'off'], 'must be on or off'), 'on'),
  /** Origins of other web pages that may call the dashboard API, separated by commas. The console always may. */
  dashboardOrigins: origins,
  /** Address of a dashboard of your own. Links in emails to developers and their GitHub sign-ins lead there. */
  dashboardUrl: pageUrl('https://app.example.com'),
  /** Client id of the dashboard's app at GitHub; without it developers cannot sign in with GitHub. */
  dashboardGithubClientId: clientId,

  /** Sender of the service's own emails; its domain must be verified at the mail provider. */
  emailFrom: sender,
  /** Emails per second that the mail provider accepts from one account; 0 for no limit. */
  mailPerSecond: requests(2),
  /** Recipients per day of all projects that use the shared key; 0 for no limit. */
  mailRecipientsPerDay: requests(5000),
  /** Endpoint of the schema assistant's language model; without it there is no assistant. */
  aiBaseUrl: pageUrl('https://api.openai.com/v1'),
  aiModel: modelName,

  /** Domains of the two APIs, with one certificate for both in the deployment's own region. */
  publicDomain: domain('api.example.com'),
  dashboardDomain: domain('dashboard-api.example.com'),
  apiCertificateArn: certificate,
  /** Domain of the public files, with its certificate in us-east-1. */
  filesDomain: domain('files.example.com'),
  filesCertificateArn: edgeCertificate,
  /** Domain of the console, with its certificate in us-east-1. */
  consoleDomain: domain('console.example.com'),
  consoleCertificateArn: edgeCertificate,
  /** Zone for the DNS records of these domains; without it, you create the records yourself. */
  hostedZoneId: hostedZone,
  hostedZoneName: domain('example.com'),
  /** Base addresses of the APIs behind a proxy of your own. */
  publicUrl: baseUrl('https://api.example.com'),
  dashboardApiUrl: baseUrl('https://dashboard-api.example.com'),

  /** Receives the alarms. */
  alarmEmail: mailAddress,
  /** US dollars per month for the whole account; `alarmEmail` is warned before they are spent. */
  monthlyBudget,
  logDays: v.pipe(
    v.optional(v.union([v.string(), v.number()]), 30),
    v.transform(String),
    v.picklist(logDays, `must be one of ${logDays.join(', ')}`),
    v.transform(Number),
  ),
  /** `all`: Lambda also logs the start and a report of every run, including cold starts. */
  platformLogs: v.optional(v.picklist(['problems', 'all'], 'must be problems or all'), 'problems'),
  /** A new value restarts every function, so that it reads its secrets again. */
  restart: label,
});

export type DeploymentSettings = ReturnType<typeof withRateLimits<v.InferOutput<typeof settings>>>;

/** Settings as given, by name: text or numbers, without defaults. */
export type Choice = Readonly<Record<string, unknown>>;

export const settingNames: readonly string[] = Object.keys(settings.entries);

/** The CDK context key that holds the content of `deployments.json`. */
export const fileContext = 'deploymentsFile';

/** Returns a file's settings for one deployment. Throws `DeployProblem` if one of them is unknown. */
export const writtenFor = (deployments: unknown, deployment: string, file: string): Choice => {
  const all = Object.entries((deployments ?? {}) as Record<string, Choice>);
  const own = all.find(([name]) => name === deployment)?.[1] ?? {};
  const unknown = Object.keys(own).find((name) => name === 'deployment' || !settingNames.includes(name));
  if (unknown)
    throw new DeployProblem(`Unknown deployment setting ${unknown} in ${file}; docs/operate/configure.md lists them.`);
  return own;
};

/**
 * Returns the settings that were given. The command line (`-c name=value`) wins over `deployments.json`, which wins over
 * `cdk.json`.
 */
export const chosenSettings = (node: Node): Choice => {
  const deployment = String(node.tryGetContext('deployment') ?? 'Basalt');
  const written = {
    ...writtenFor(node.tryGetContext('deployments'), deployment, 'cdk.json'),
    ...writtenFor(node.tryGetContext(fileContext), deployment, 'deployments.json'),
  };
  const all = settingNames.map((name) => [name, node.tryGetContext(name) ?? written[name]] as const);
  return Object.fromEntries(all.filter(([, value]) => value !== undefined));
};

/** Validates settings and adds the defaults. Throws `DeployProblem` for an invalid value. */
export const settingsOf = (chosen: Choice): DeploymentSettings => {
  const parsed = v.safeParse(settings, chosen);
  if (parsed.success) return requireConsistent(withRateLimits(parsed.output));
  const [issue] = parsed.issues;
  throw new DeployProblem(`Deployment setting ${v.getDotPath(issue) ?? ''} ${issue.message}`);
};
