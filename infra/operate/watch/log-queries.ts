/** On the log of a gateway (`/aws/vendedlogs/<deployment>-PublicApi/requests`): which routes fail, and how often. */
export const failuresByRoute = `filter status >= 500
| stats count(*) as failures by route, status
| sort failures desc
| limit 20`;

/** On all logs of a deployment: what failed, by its code, and for which projects. */
export const failuresByCode = `filter status >= 500 and ispresent(route)
| stats count(*) as failures, count_distinct(project) as projects by code, route
| sort failures desc
| limit 50`;

/** On the log of a gateway: which routes are slow. */
export const slowestRoutes = `stats count(*) as requests, pct(ms, 50) as p50, pct(ms, 95) as p95, max(ms) as slowest by route
| sort p95 desc
| limit 20`;

/** On all logs of a deployment: everything that one request left, from the gateway to the jobs it began. */
export const oneRequest = (requestId: string): string => `filter requestId = "${requestId}"
| sort @timestamp asc
| display @timestamp, @log, level, route, status, ms, databaseMs, job, message, code, error.message`;

/** On all logs of a deployment: the newest errors, with where they happened. */
export const newestErrors = `filter level in ["error", "ERROR"]
| sort @timestamp desc
| display @timestamp, @log, requestId, job, code, name, message, error.name, error.message
| limit 50`;

/** On all logs of a deployment: what became of a mail, by the id that sending it answered. */
export const oneMail = (mailId: string): string => `filter mail = "${mailId}" or @message like "${mailId}"
| sort @timestamp asc
| display @timestamp, @log, requestId, job, message, reason, error.name, error.message`;
