import { useQuery } from '../../api/query.ts';
import type { Data } from '../../api/rows.ts';
import { service } from '../../api/service.ts';
import { t } from '../../text/words.ts';
import { Badge } from '../../ui/badge.tsx';
import { Copy } from '../../ui/copy.tsx';
import { Panel } from '../../ui/panel.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { Snippet } from '../../ui/snippet.tsx';
import { Time } from '../../ui/time.tsx';
import { Waiting } from '../../ui/waiting.tsx';
import { codeOf } from '../api/code.ts';
import { needsUser, type Rejected, whatToChange } from './what-to-change.ts';

/** Placeholders of a path: `:collection` is known, others are not logged. */
const pathOf = (path: string, collection: string | undefined): string =>
  path.replaceAll(/:(\w+)/g, (_, name: string) =>
    name === 'collection' && collection !== undefined ? collection : name.toUpperCase(),
  );

/** The request as a command. The log has no values, so that keys, ids and contents are placeholders. */
const curlOf = (rejected: Rejected, publishableKey: string): string => {
  const { route, key, fields, collection } = rejected;
  const [method = 'GET', path = '/'] = route.split(' ');
  const sent = fields.filter((field) => /^\w+$/.test(field));
  const body =
    method === 'GET' || method === 'DELETE' ? undefined : Object.fromEntries(sent.map((name) => [name, '…']));
  const example = {
    id: '',
    area: '',
    summary: '',
    method,
    path: pathOf(path, collection),
    access: '',
    params: {},
    query: {},
    body,
  };
  return codeOf(
    'curl',
    example,
    { api: service().api, publishableKey },
    key === 'secret' ? 'secret' : needsUser(rejected) ? 'user' : 'publishable',
  );
};

/** True if the command has placeholders: a key or token, an id, or a value. */
const isIncomplete = (rejected: Rejected, code: string): boolean =>
  rejected.key === 'secret' ||
  needsUser(rejected) ||
  code.includes('…') ||
  [...rejected.route.matchAll(/:(\w+)/g)].some(
    ([, name]) => name !== 'collection' || rejected.collection === undefined,
  );

const Facts = ({ projectId, rejected }: { readonly projectId: string; readonly rejected: Rejected }) => {
  const { at, route, status, code, fields, key, userId, address, requestId, collection, effect } = rejected;
  const base = `/projects/${projectId}`;
  const errors = effect ?? [];
  return (
    <dl class="facts">
      {(
        [
          [
            t.audit.at,
            <>
              <span class="mono">{at}</span>{' '}
              <span class="muted">
                <Time at={at} />
              </span>
            </>,
          ],
          [t.usage.route, <span class="mono">{route}</span>],
          [
            t.requests.response,
            <>
              <Badge kind="danger">{status}</Badge> <span class="mono">{code}</span>
            </>,
          ],
          fields.length > 0 && [
            t.requests.fields,
            <span class="row">
              {fields.map((field) => (
                <Badge key={field}>{field}</Badge>
              ))}
            </span>,
          ],
          errors.length > 0 && [
            t.requests.effect,
            errors.map(({ field, message: why }, nth) => (
              <p key={nth}>
                {field && <span class="mono">{field}: </span>}
                {why}
              </p>
            )),
          ],
          collection !== undefined && [
            t.usage.collection,
            <a href={collection === 'users' ? `${base}/users` : `${base}/documents/${collection}`}>{collection}</a>,
          ],
          [t.requests.key, <Badge>{key}</Badge>],
          userId !== null && [
            t.requests.user,
            <a class="mono" href={`${base}/users?open=${userId}`}>
              {userId}
            </a>,
          ],
          [t.requests.network, <span class="mono">{address}</span>],
          [
            t.requests.requestId,
            <span class="row">
              <span class="mono">{requestId}</span> <Copy text={requestId} />
            </span>,
          ],
        ] as const
      ).map(
        (fact) =>
          fact && (
            <div key={fact[0]}>
              <dt>{fact[0]}</dt>
              <dd>{fact[1]}</dd>
            </div>
          ),
      )}
    </dl>
  );
};

/** A rejected request: what it was, what to change so that it succeeds, and how to repeat it. */
export const RequestPanel = ({
  project,
  requestId,
  onClose,
}: {
  readonly project: Data<'get-project'>;
  readonly requestId: string;
  readonly onClose: () => void;
}) => {
  const { _id: projectId, publishableKey } = project;
  const found = useQuery('list-refusals', { projectId, query: { requestId, limit: 1 } });
  const { data, problem } = found.value;
  const rejected = data?.items[0];
  const code = rejected && curlOf(rejected, publishableKey);
  return (
    <Panel title={rejected ? `${rejected.status} ${rejected.code}` : t.requests.one} onClose={onClose}>
      {problem && <ProblemNote problem={problem} onRetry={found.reload} />}
      <Waiting of={found.value} />
      {data && !rejected && <p class="note">{t.requests.unknown(requestId)}</p>}
      {rejected && code !== undefined && (
        <>
          <p>{rejected.message}</p>
          <h3>{t.requests.change}</h3>
          <ul class="stack links">
            {whatToChange(projectId, rejected).map(({ href, label }) => (
              <li key={href}>
                <a href={href}>{label}</a>
              </li>
            ))}
            <li>
              <a href={`/docs/reference/errors#${rejected.code.toLowerCase()}`} target="_blank" rel="noopener">
                {t.requests.docs(rejected.code)}
              </a>
            </li>
          </ul>
          <Facts projectId={projectId} rejected={rejected} />
          <h3>{t.requests.repeat}</h3>
          {isIncomplete(rejected, code) && <p class="muted">{t.requests.repeatWhy}</p>}
          <Snippet code={code} label={t.requests.repeat} />
        </>
      )}
    </Panel>
  );
};
