import * as v from 'valibot';

/** CDK context is text on the command line and a number in a file. */
const digits = v.pipe(
  v.union([v.string(), v.number()]),
  v.transform(String),
  v.regex(/^\d{1,9}$/, 'must be a whole number'),
);

/** A request count as text, which functions read from their environment. */
export const requests = (fallback: number) => v.optional(digits, fallback);

/** A request count whose default is a share of another setting. */
export const followingRequests = v.optional(digits);

export const wholeNumber = (fallback: number, min: number, max: number) =>
  v.pipe(
    requests(fallback),
    v.transform(Number),
    v.check((count) => count >= min && count <= max, `must be from ${min} to ${max}`),
  );

/** Whole dollars. */
export const monthlyBudget = v.optional(
  v.pipe(
    digits,
    v.transform(Number),
    v.check((dollars) => dollars > 0, 'must be at least 1'),
  ),
);

/** Origins of web pages, separated by commas. */
export const origins = v.pipe(
  v.optional(v.string(), ''),
  v.transform((list) => list.split(',').flatMap((entry) => entry.trim() || [])),
  v.array(
    v.pipe(
      v.string(),
      v.regex(/^https?:\/\/[a-z0-9.-]+(:\d{1,5})?$/, 'must be origins such as https://app.example.com'),
    ),
  ),
);

const matching = (pattern: RegExp, message: string) => v.optional(v.pipe(v.string(), v.regex(pattern, message)));

/** `address` or `Name <address>` */
export const sender = matching(
  /^([^<>\p{Cc}]+ <[^<>@\s]+@[^<>@\s]+>|[^<>@\s]+@[^<>@\s]+)$/u,
  'must be like Example <no-reply@example.com>',
);

export const mailAddress = matching(/^[^<>@\s]+@[^<>@\s]+$/, 'must be an address such as ops@example.com');

/** A URL without a query. */
export const pageUrl = (example: string) => matching(/^https:\/\/[^\s?#]+$/, `must be an address such as ${example}`);

/** A URL of scheme and host only. */
export const baseUrl = (example: string) => matching(/^https:\/\/[^/\s]+$/, `must be an address such as ${example}`);

export const domain = (example: string) =>
  matching(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/, `must be a domain such as ${example}`);

/** CloudFront only accepts certificates in us-east-1. */
export const certificate = matching(
  /^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate\/[a-z0-9-]+$/,
  'must be the ARN of a certificate',
);
export const edgeCertificate = matching(
  /^arn:aws:acm:us-east-1:\d{12}:certificate\/[a-z0-9-]+$/,
  'must be the ARN of a certificate in us-east-1',
);

export const hostedZone = matching(/^Z[A-Z0-9]{1,31}$/, 'must be the id of a hosted zone such as Z0123456789ABC');

export const clientId = matching(/^[\x21-\x7e]{1,100}$/, 'must be the client id of an OAuth app');

export const modelName = matching(/^[\w.:/@-]{1,200}$/, 'must be the name of a model');

export const label = matching(/^[\w.:-]{1,64}$/, 'must be a short text without spaces');
