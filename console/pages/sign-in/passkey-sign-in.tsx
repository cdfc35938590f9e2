import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { type Problem, problemOf } from '../../api/problem.ts';
import { t } from '../../text/words.ts';
import { Button } from '../../ui/button.tsx';
import { hasPasskeys, pageByName, signInByOffer, signInByPasskey } from '../../ui/passkey-acts.ts';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { enter } from './enter.ts';

/** Signs in with a passkey that the browser offers in the email field, or that is requested here. */
const Offered = ({ onDone }: { readonly onDone: () => void }) => {
  const problem = useSignal<Problem | undefined>(undefined);
  const offering = useRef<AbortController>(undefined);
  const say = (error: unknown) => {
    problem.value = problemOf(error);
  };
  const offer = () => {
    const stop = new AbortController();
    offering.current = stop;
    signInByOffer(stop.signal)
      .then((answer) => answer && enter(Promise.resolve(answer), onDone))
      .catch(say);
  };
  useEffect(() => {
    offer();
    return () => offering.current?.abort();
  }, []);
  const choose = () => {
    // Browsers handle one request at a time.
    offering.current?.abort();
    problem.value = undefined;
    enter(signInByPasskey(), onDone).catch((error: unknown) => {
      say(error);
      offer();
    });
  };
  return (
    <>
      <Button onClick={choose}>{t.passkeys.signIn}</Button>
      {problem.value && <ProblemNote problem={problem.value} />}
    </>
  );
};

/** Sign-in with a passkey, or a link to an address where passkeys work. */
export const PasskeySignIn = ({ onDone }: { readonly onDone: () => void }) => {
  if (hasPasskeys()) return <Offered onDone={onDone} />;
  const page = pageByName();
  return page ? (
    <p class="muted">
      <a href={page.href}>{t.passkeys.signInAt(page.host)}</a>
    </p>
  ) : null;
};
