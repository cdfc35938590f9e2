import type { Node } from 'constructs';
import * as v from 'valibot';
import { DeployProblem } from './deploy-problem.ts';
import { withRateLimits } from './rate-limits.ts';
import { refuseContradictions } from './setting-rules.ts';
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

/** How long CloudWatch can keep a log, in days. */
const logDays = ['1', '3', '5', '7', '14', '30', '60', '90', '120', '150', '180', '365', '400', '545', '731'] as const;

const settings = v.object({
  /** Prefix of every stack's name, so that one account can hold several deployments. */
  deployment: v.optional(
    v.pipe(v.string(), v.regex(/^[A-Z][A-Za-z0-9]{0,30}$/, 'must be a name such as Basalt')),
    'Basalt',
  ),

  rateLimit: requests(100),
  /** 0.6 of the first where it is not given. */
  authRateLimit: followingRequests,
  /** 0.2 of the first where it is not given. */
  credentialRateLimit: followingRequests,
  /** Requests counted at once; 0 for a thousandth of each limit, which counts limits under 2000 one by one. */
  rateBlock: requests(0),
  /** Requests a second that each gateway lets through, over all callers. */
  publicRequestsPerSecond: wholeNumber(5000, 1, 100_000),
  dashboardRequestsPerSecond: wholeNumber(500, 1, 100_000),

  /** How many functions the account may run at once (its quota). */
  accountConcurrency: wholeNumber(1000, 1, 1_000_000),
  /** Connections that the MongoDB cluster allows; 0 leaves them unbounded. */
  mongoConnections: wholeNumber(0, 0, 1_000_000),
  /** Writes a second that the table is scaled to, paid by the hour; 0 pays for each. */
  tableWritesPerSecond: wholeNumber(0, 0, 1_000_000),
  /** `nat`: everything that talks to MongoDB does so from two fixed addresses. */
  egress: v.optional(v.picklist(['none', 'nat'], 'must be none or nat'), 'none'),

  /**
   * `off`: without CloudFront, which an account may use only once AWS has verified it; `added`: with it after a time
   * without, so that the addresses of that time stay.
   */
  cloudFront: v.optional(v.picklist(['on', 'off', 'added'], 'must be on, off or added'), 'on'),
  /** Whether strangers may open developer accounts. */
  developerSignup: v.optional(v.picklist(['open', 'closed'], 'must be open or closed'), 'open'),
  /** `off`: no live updates, and nothing to pay for them; clients ask for changes. */
  realtime: v.optional(v.picklist(['on', 'off'], 'must be on or off'), 'on'),
  /** Origins of other web pages than the console's that may call the dashboard API, separated by commas. */
  dashboardOrigins: origins,
  /**
   * Address of the dashboard's pages where they are not the console's: links of mails to developers lead there, and
   * their sign-ins with GitHub end there.
   */
  dashboardUrl: pageUrl('https://app.example.com'),
  /** Client id of the dashboard's app at GitHub; without it developers cannot sign in with GitHub. */
  dashboardGithubClientId: clientId,

  /** Sender of the mails that the service itself sends; its domain must be verified at the mail provider. */
  emailFrom: sender,
  /** Mails a second that the mail provider takes of one account; 0 for as many as there are. */
  mailPerSecond: requests(2),
  /** Addresses a day that mails of all projects go to with the shared key; 0 for any number. */
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
  /** Domain of the console, the same. */
  consoleDomain: domain('console.example.com'),
  consoleCertificateArn: edgeCertificate,
  /** Where the records of these domains are made; without it they are made by hand. */
  hostedZoneId: hostedZone,
  hostedZoneName: domain('example.com'),
  /** Base addresses of the APIs where something of the operator's own stands before them. */
  publicUrl: baseUrl('https://api.example.com'),
  dashboardApiUrl: baseUrl('https://dashboard-api.example.com'),

  /** Who is told of alarms. */
  alarmEmail: mailAddress,
  /** Dollars a month of the whole account; its address is told before they are spent. */
  monthlyBudget,
  logDays: v.pipe(
    v.optional(v.union([v.string(), v.number()]), 30),
    v.transform(String),
    v.picklist(logDays, `must be one of ${logDays.join(', ')}`),
    v.transform(Number),
  ),
  /** `all` has Lambda write a start and a report of every run too, cold starts among them. */
  platformLogs: v.optional(v.picklist(['problems', 'all'], 'must be problems or all'), 'problems'),
  /** Another text than the last time starts every function afresh, so that it reads its secrets again. */
  restart: label,
});

export type DeploymentSettings = ReturnType<typeof withRateLimits<v.InferOutput<typeof settings>>>;

/** Settings as they were given, by name: text or numbers, none with a default. */
export type Choice = Readonly<Record<string, unknown>>;

/** The settings there are, by name. */
export const settingNames: readonly string[] = Object.keys(settings.entries);

/** The context in which the CDK app finds what `deployments.json` says. */
export const fileContext = 'deploymentsFile';

/** What a file says of one deployment below its name; a name that is none of a setting is refused. */
export const writtenFor = (deployments: unknown, deployment: string, file: string): Choice => {
  const all = Object.entries((deployments ?? {}) as Record<string, Choice>);
  const own = all.find(([name]) => name === deployment)?.[1] ?? {};
  const unknown = Object.keys(own).find((name) => name === 'deployment' || !settingNames.includes(name));
  if (unknown)
    throw new DeployProblem(`Unknown deployment setting ${unknown} in ${file}; see docs/operate/configure.md`);
  return own;
};

/**
 * What was chosen of a deployment: `-c name=value` on the command line, before `deployments.json`, before what
 * `cdk.json` says below `deployments` and the deployment's name.
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

/**
 * The settings of a deployment, with defaults for what was not chosen. A value that cannot be used → `DeployProblem`.
 */
export const settingsOf = (chosen: Choice): DeploymentSettings => {
  const parsed = v.safeParse(settings, chosen);
  if (parsed.success) return refuseContradictions(withRateLimits(parsed.output));
  const [issue] = parsed.issues;
  throw new DeployProblem(`Deployment setting ${v.getDotPath(issue) ?? ''} ${issue.message}`);
};
