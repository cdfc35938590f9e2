import { request } from '../../api/request.ts';
import type { Data } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Act } from '../../ui/act.tsx';
import { Badge } from '../../ui/badge.tsx';
import { say } from '../../ui/toast.tsx';
import type { Answered } from './call.ts';

/** Shown if the project's origin list does not include the console: explains this and offers to add it. */
const NotAllowed = ({ project }: { readonly project: Data<'get-project'> }) => (
  <div class="note">
    <p>{t.api.notAllowed(location.origin)}</p>
    {project.role !== 'viewer' && (
      <Act
        onAct={async () => {
          await request('update-project', {
            projectId: project._id,
            body: { allowedDomains: [...project.allowedDomains, location.origin] },
          });
          say(t.settings.saved);
        }}
      >
        {t.api.allow}
      </Act>
    )}
  </div>
);

/** The response of the API: status, time, headers and body. */
export const Answer = ({
  answered: { status, ms, headers, text, code, requestId },
  project,
}: {
  readonly answered: Answered;
  readonly project: Data<'get-project'>;
}) => (
  <section class="stack" aria-label={t.api.answer}>
    <p role="status">
      <Badge kind={status >= 200 && status < 300 ? 'good' : 'danger'}>{status === 0 ? t.api.redirect : status}</Badge>{' '}
      {t.api.took(ms)}
    </p>
    {status >= 400 && status < 500 && status !== 429 && requestId && (
      <p>
        <a href={`/projects/${project._id}/requests?open=${encodeURIComponent(requestId)}`}>{t.requests.open}</a>
      </p>
    )}
    {code === 'ORIGIN_NOT_ALLOWED' && <NotAllowed project={project} />}
    {headers && <pre class="small muted whole">{headers}</pre>}
    {text && <pre class="card whole">{text}</pre>}
  </section>
);
