/** Items of statistics: apart from what else a project owns, because every function may add to them. */
export const statsKey = (projectId: string, sort: string) => ({ pk: { S: `stats#${projectId}` }, sk: { S: sort } });

/** `requests#<day>`, with one attribute for each kind of request. */
export const requestsOn = (day: string): string => `requests#${day}`;

/** `queries#<day>`, with two attributes for each shape of slow list. */
export const queriesOn = (day: string): string => `queries#${day}`;

/** How long statistics are kept, in days. */
const keptDays = 31;

/** The day of a time in ms, `yyyy-mm-dd` in UTC. */
export const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** When statistics of a day are deleted, in seconds. */
export const expiryOf = (day: string): number => Date.parse(day) / 1000 + (keptDays + 1) * 24 * 3600;
