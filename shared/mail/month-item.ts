import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { plans } from '../projects/plans.ts';
import type { Project } from '../projects/project.ts';

// One item a project and month counts the slots in `used`, and keeps in `held` the ids of those mails whose slot could
// still come back: at most a month's mails, 24 bytes each. One conditional update each way moves a mail's slot, so that
// it can be taken once and be given back once. Besides it counts the rows that the log got on each day, which do not
// come back.

export type Account = Pick<Project, 'id' | 'plan'>;
export type Item = Readonly<Record<string, AttributeValue>> | undefined;

/** How a month's quota stands. */
export interface MailUsage {
  readonly used: number;
  readonly limit: number;
}

/** How long the count of a month is kept after its begin. */
const keptSeconds = 400 * 24 * 3600;

/** The month of a time, `yyyy-mm`. */
export const monthOf = (time: number): string => new Date(time).toISOString().slice(0, 7);

export const keyOf = (projectId: string, month: string) => ({
  pk: { S: `p#${projectId}` },
  sk: { S: `quota#mail#${month}` },
});

/** When the count of a month goes, as an attribute. */
export const endOf = (month: string): AttributeValue => ({
  N: String(Math.floor(Date.parse(`${month}-01`) / 1000) + keptSeconds),
});

export const limitOf = ({ plan }: Pick<Project, 'plan'>): number => plans[plan].mailsPerMonth;

export const usedIn = (item: Item): number => Number(item?.used?.N ?? 0);

export const heldIn = (item: Item): readonly string[] => item?.held?.SS ?? [];
