import type { Node } from 'constructs';
import * as v from 'valibot';

const requests = (fallback: number) =>
  v.pipe(
    v.optional(v.union([v.string(), v.number()]), fallback),
    v.transform(String),
    v.regex(/^\d{1,9}$/, 'must be a whole number'),
  );

const origin = v.pipe(
  v.string(),
  v.regex(/^https?:\/\/[a-z0-9.-]+(:\d{1,5})?$/, 'must be origins such as https://app.example.com'),
);

/** An address, or `Name <address>`. */
const sender = v.pipe(
  v.string(),
  v.regex(/^([^<>\p{Cc}]+ <[^<>@\s]+@[^<>@\s]+>|[^<>@\s]+@[^<>@\s]+)$/u, 'must be like Example <no-reply@example.com>'),
);

const settings = v.object({
  /** Prefix of every stack's name, so that one account can hold several deployments. */
  deployment: v.optional(
    v.pipe(v.string(), v.regex(/^[A-Z][A-Za-z0-9]{0,30}$/, 'must be a name such as Basalt')),
    'Basalt',
  ),
  rateLimit: requests(100),
  authRateLimit: requests(60),
  credentialRateLimit: requests(20),
  /** Origins of the web pages that may call the dashboard API, separated by commas. */
  dashboardOrigins: v.pipe(
    v.optional(v.string(), ''),
    v.transform((list) => list.split(',').flatMap((entry) => entry.trim() || [])),
    v.array(origin),
  ),
  /** Sender of the mails that the service itself sends; its domain must be verified at the mail provider. */
  emailFrom: v.optional(sender),
  /** Base address of the public API where it has a domain of its own. */
  publicUrl: v.optional(
    v.pipe(v.string(), v.regex(/^https:\/\/[^/]+$/, 'must be an address such as https://api.example.com')),
  ),
});

export type DeploymentSettings = v.InferOutput<typeof settings>;

/** What a deployment can choose, from CDK context (`cdk.json` or `-c name=value`); throws where a value is not usable. */
export const deploymentSettings = (node: Node): DeploymentSettings => {
  const context = Object.fromEntries(Object.keys(settings.entries).map((name) => [name, node.tryGetContext(name)]));
  const parsed = v.safeParse(settings, context);
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  throw new Error(`Deployment setting ${v.getDotPath(issue) ?? ''} ${issue.message}`);
};
