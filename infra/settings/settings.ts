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

/** A setting with the text that the reference shows. */
const about = <const S extends v.GenericSchema>(schema: S, description: string) =>
  v.pipe(schema, v.metadata({ description }));

const limits = {
  rateLimit: about(requests(100), 'Requests from one address in 15 minutes; 0 turns all rate limits off.'),
  authRateLimit: about(followingRequests, 'Of these, requests to /api/userAuth. Default: 0.6 of rateLimit.'),
  credentialRateLimit: about(
    followingRequests,
    'Of these, requests with a password or code. Default: 0.2 of rateLimit.',
  ),
  rateBlock: about(
    requests(0),
    'Requests counted by one write; 0: a thousandth of each limit, so limits under 2000 are counted one by one.',
  ),
  publicRequestsPerSecond: about(
    wholeNumber(5000, 1, 100_000),
    'Requests a second of all callers to the public API. Bursts are half of it, at most 5000.',
  ),
  dashboardRequestsPerSecond: about(wholeNumber(500, 1, 100_000), 'The same for the dashboard API.'),
  accountConcurrency: about(wholeNumber(1000, 1, 1_000_000), "The account's quota of concurrent function runs."),
  mongoConnections: about(wholeNumber(0, 0, 1_000_000), 'Connections that the MongoDB cluster allows; 0: no limit.'),
  tableWritesPerSecond: about(
    wholeNumber(0, 0, 1_000_000),
    'Provisioned writes a second of the table, at most, paid by the hour; 0: on demand.',
  ),
  mailPerSecond: about(requests(2), 'Emails a second that the provider accepts from one account; 0: no limit.'),
  mailRecipientsPerDay: about(
    requests(5000),
    'Recipients a day of all projects that use the shared mail key; 0: no limit.',
  ),
  monthlyBudget: about(
    monthlyBudget,
    'US dollars a month for the entire account. AWS emails alarmEmail at 80 % and if the forecast exceeds it.',
  ),
};

const features = {
  deployment: about(
    v.optional(v.pipe(v.string(), v.regex(/^[A-Z][A-Za-z0-9]{0,30}$/, 'must be a name such as Basalt')), 'Basalt'),
    'Prefix of the name of every stack. One account can hold several deployments.',
  ),
  egress: about(
    v.optional(v.picklist(['none', 'nat'], 'must be none or nat'), 'none'),
    'nat: functions connect to MongoDB from two fixed addresses.',
  ),
  cloudFront: about(
    v.optional(v.picklist(['on', 'off', 'added'], 'must be on, off or added'), 'on'),
    'off: functions serve files and console, because AWS has not verified the account yet. added: CloudFront was added later, and earlier addresses keep working.',
  ),
  realtime: about(
    v.optional(v.picklist(['on', 'off'], 'must be on or off'), 'on'),
    'off: no live updates and no cost for them; clients poll for changes.',
  ),
  developerSignup: about(
    v.optional(v.picklist(['open', 'closed'], 'must be open or closed'), 'open'),
    'closed: only npm run add-developer creates developer accounts.',
  ),
  dashboardOrigins: about(
    origins,
    'Other web pages that may call the dashboard API, separated by commas. The console always may.',
  ),
  dashboardUrl: about(
    pageUrl('https://app.example.com'),
    'Your own dashboard pages. Links in emails to developers and their GitHub sign-ins lead there. Default: the console.',
  ),
  dashboardGithubClientId: about(
    clientId,
    "Client id of the dashboard's app at GitHub; without it developers cannot sign in with GitHub.",
  ),
  emailFrom: about(
    sender,
    "Sender of the service's own emails, with a domain verified at the provider. Default: Basalt <onboarding@resend.dev>, which reaches only you.",
  ),
  aiBaseUrl: about(
    pageUrl('https://api.openai.com/v1'),
    "Endpoint of the schema assistant's language model; without it there is no assistant.",
  ),
  aiModel: about(modelName, 'Name of its model. Default: gpt-4o-mini.'),
};

const addresses = {
  publicDomain: about(domain('api.example.com'), 'Domain of the public API.'),
  dashboardDomain: about(domain('dashboard-api.example.com'), 'Domain of the dashboard API.'),
  apiCertificateArn: about(certificate, "Certificate of both API domains, in the deployment's own region."),
  filesDomain: about(domain('files.example.com'), 'Domain of the public files.'),
  filesCertificateArn: about(edgeCertificate, 'Certificate of filesDomain, in us-east-1.'),
  consoleDomain: about(domain('console.example.com'), 'Domain of the console.'),
  consoleCertificateArn: about(edgeCertificate, 'Certificate of consoleDomain, in us-east-1.'),
  hostedZoneId: about(
    hostedZone,
    'Route 53 zone for the DNS records of these domains; without it you create the records.',
  ),
  hostedZoneName: about(domain('example.com'), 'Name of this zone.'),
  publicUrl: about(
    baseUrl('https://api.example.com'),
    'Address of your own proxy for the public API: token issuer and email links. Default: the domain or gateway.',
  ),
  dashboardApiUrl: about(
    baseUrl('https://dashboard-api.example.com'),
    'The same for the dashboard API. Default: the console; with dashboardUrl, the domain or gateway.',
  ),
};

const operation = {
  alarmEmail: about(mailAddress, 'Receives the alarms.'),
  logDays: about(
    v.pipe(
      v.optional(v.union([v.string(), v.number()]), 30),
      v.transform(String),
      v.picklist(logDays, `must be one of ${logDays.join(', ')}`),
      v.transform(Number),
    ),
    `Days to keep logs: ${logDays.join(', ')}.`,
  ),
  platformLogs: about(
    v.optional(v.picklist(['problems', 'all'], 'must be problems or all'), 'problems'),
    'all: Lambda also logs the start and a report of every run, about 900 bytes a request.',
  ),
  restart: about(label, 'A new value restarts every function, so that it reads its secrets again.'),
};

/** The settings by the headings of the reference. */
export const settingGroups = {
  Limits: limits,
  Features: features,
  Addresses: addresses,
  Operation: operation,
} as const;

const settings = v.object({ ...limits, ...features, ...addresses, ...operation });

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
    throw new DeployProblem(`Unknown deployment setting ${unknown} in ${file}; docs/reference/settings.md lists them.`);
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
