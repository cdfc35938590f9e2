/** For a gateway's log (`/aws/vendedlogs/<deployment>-PublicApi/requests`): failing routes and their counts. */
export const failuresByRoute = `filter status >= 500
| stats count(*) as failures by route, status
| sort failures desc
| limit 20`;

/** For all logs: errors by code and project. */
export const failuresByCode = `filter status >= 500 and ispresent(route)
| stats count(*) as failures, count_distinct(project) as projects by code, route
| sort failures desc
| limit 50`;

/** For a gateway's log: slow routes. */
export const slowestRoutes = `stats count(*) as requests, pct(ms, 50) as p50, pct(ms, 95) as p95, max(ms) as slowest by route
| sort p95 desc
| limit 20`;

/** For all logs: everything about one request, from the gateway to its jobs. */
export const oneRequest = (requestId: string): string => `filter requestId = "${requestId}"
| sort @timestamp asc
| display @timestamp, @log, level, route, status, ms, databaseMs, job, message, code, error.message`;

/** For all logs: the newest errors with their stack traces. */
export const newestErrors = `filter level in ["error", "ERROR"]
| sort @timestamp desc
| display @timestamp, @log, requestId, job, code, name, message, error.name, error.message
| limit 50`;

/** For all logs: the history of one email, by the id that the send returned. */
export const oneMail = (mailId: string): string => `filter mail = "${mailId}" or @message like "${mailId}"
| sort @timestamp asc
| display @timestamp, @log, requestId, job, message, reason, error.name, error.message`;
