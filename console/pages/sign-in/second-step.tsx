import { request } from '../../api/request.ts';
import { signedIn } from '../../api/session.ts';
import { t } from '../../text/words.ts';
import { Alone } from '../../ui/alone.tsx';
import { FactorForm } from '../../ui/factor-form.tsx';

/**
 * The second factor of a sign-in. A ticket is valid for five minutes and five tries; after that the sign-in starts
 * again.
 */
export const SecondStep = ({ ticket, onDone }: { readonly ticket: string; readonly onDone: () => void }) => (
  <Alone title={t.factor.title}>
    <p>{t.factor.ask}</p>
    <FactorForm
      act={t.signIn.act}
      onProof={async (proof) => {
        const { data } = await request('sign-in-developer-with-factor', { body: { ticket, ...proof } });
        signedIn(data);
        onDone();
      }}
    />
    <p class="muted">
      {/* Also where it stands already: what was typed is begun anew. */}
      <a href="/sign-in" target="_self">
        {t.factor.again}
      </a>
    </p>
  </Alone>
);
