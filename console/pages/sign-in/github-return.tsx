import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { type Problem, problemOf } from '../../api/problem.ts';
import { request } from '../../api/request.ts';
import { signedIn } from '../../api/session.ts';
import { t } from '../../text/words.ts';
import { Alone } from '../../ui/alone.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { takePlace } from './place-after.ts';

/** Where a sign-in with GitHub ends: what the address carries is traded for a session, once. */
export const GithubReturn = () => {
  const { query, route } = useLocation();
  const problem = useSignal<Problem | undefined>(undefined);
  useEffect(() => {
    const token = new URLSearchParams(location.hash.slice(1)).get('token');
    history.replaceState(null, '', location.pathname);
    if (query.error || !token || !query.rtCode) {
      problem.value = problemOf(new Error(query.error ?? t.problem.unknown));
      return;
    }
    request('exchange-developer-code', { body: { token, rtCode: query.rtCode } }).then(
      ({ data }) => {
        signedIn(data);
        route(takePlace(), true);
      },
      (error: unknown) => {
        problem.value = problemOf(error);
      },
    );
  }, []);
  return (
    <Alone title={t.signIn.github}>
      {problem.value ? <ProblemNote problem={problem.value} /> : <p class="muted">{t.loading}</p>}
      <p>
        <a href="/sign-in">{t.signIn.title}</a>
      </p>
    </Alone>
  );
};
