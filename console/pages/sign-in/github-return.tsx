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
import { SecondStep } from './second-step.tsx';

/** Exchanges the code in the address for a session, once. */
export const GithubReturn = () => {
  const { query, route } = useLocation();
  const problem = useSignal<Problem | undefined>(undefined);
  const ticket = useSignal<string | null>(null);
  const goOn = () => route(takePlace(), true);
  useEffect(() => {
    const fragment = new URLSearchParams(location.hash.slice(1));
    const token = fragment.get('token');
    ticket.value = fragment.get('ticket');
    history.replaceState(null, '', location.pathname);
    if (ticket.value !== null) return;
    if (query.error || !token || !query.rtCode) {
      problem.value = problemOf(new Error(query.error ?? t.problem.unknown));
      return;
    }
    request('exchange-developer-code', { body: { token, rtCode: query.rtCode } }).then(
      ({ data }) => {
        signedIn(data);
        goOn();
      },
      (error: unknown) => {
        problem.value = problemOf(error);
      },
    );
  }, []);
  if (ticket.value !== null) return <SecondStep ticket={ticket.value} onDone={goOn} />;
  return (
    <Alone title={t.signIn.github}>
      {problem.value ? <ProblemNote problem={problem.value} /> : <p class="muted">{t.loading}</p>}
      <p>
        <a href="/sign-in">{t.signIn.title}</a>
      </p>
    </Alone>
  );
};
