import { type Plan, plans } from '../../shared/projects/plans.ts';
import { generated } from './generated.ts';

const size = (bytes: number): string => (bytes >= 2 ** 30 ? `${bytes / 2 ** 30} GiB` : `${bytes / 2 ** 20} MiB`);
const number = (many: number): string => String(many).replace(/\B(?=(?:\d{3})+$)/g, ' ');

const titles: Readonly<Record<keyof Plan, readonly [string, (value: number) => string]>> = {
  projects: ['Projects of a developer', number],
  collections: ['Collections of a project', number],
  users: ['Users of a project', number],
  databaseBytes: ['Documents of a project', size],
  storageBytes: ['Files of a project', size],
  variantBytes: ['Image sizes that are kept for a project; the oldest make room', size],
  userStorageBytes: ['Files that one user has uploaded, open uploads included', size],
  userFiles: ['Number of such files of one user', number],
  userReservations: ['Open uploads of one user', number],
  mailsPerMonth: ['Emails of a project in a month', number],
  recipientsPerMonth: ['Recipients of all projects of a developer in a month, with the shared mail key', number],
  accountMailsPerDay: ['Emails about user accounts of a project in a day, with the shared mail key', number],
  proposals: ['Proposals of the schema assistant for a project in a month', number],
  webhooks: ['Webhooks of a project', number],
  transfers: ['Exports and imports of a project at the same time', number],
  exportBytes: ['Exports of a project that are kept', size],
};

/** docs/reference/limits.md, from the plans. */
export const limitsPage = (): string => {
  const names = Object.keys(plans) as (keyof typeof plans)[];
  const rows = (Object.keys(titles) as (keyof Plan)[]).map((limit) => {
    const [title, shown] = titles[limit];
    const cells = names.map((name) => plans[name][limit]).map((value) => (value === null ? 'no limit' : shown(value)));
    return `| ${title} | ${cells.join(' | ')} |\n`;
  });
  const codes = ['PLAN_LIMIT', 'DATABASE_QUOTA_EXCEEDED', 'STORAGE_QUOTA_EXCEEDED', 'USER_QUOTA_EXCEEDED'];
  const link = (code: string): string => `[\`${code}\`](errors.md#${code.toLowerCase()})`;
  return `${generated}# Limits and plans

The operator sets a developer's plan; it counts for all projects of that developer.
A project that brings its own database or bucket has no limit there.

| Limit | ${names.map((name) => `\`${name}\``).join(' | ')} |
|---|${names.map(() => '---|').join('')}
${rows.join('')}
Requests beyond a limit return 403 ${codes.map(link).join(', ')},
or 429 ${['MAIL_QUOTA_EXCEEDED', 'ASSISTANT_QUOTA_EXCEEDED'].map(link).join(', ')}.

Limits that do not depend on the plan, for example the size of a document (4 MiB) or of a hosted file (10 MiB), are with
the [rules of each area](README.md) and in [the specification](specification.md#limits).
`;
};
