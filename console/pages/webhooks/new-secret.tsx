import { t } from '../../text/words.ts';
import { Button } from '../../ui/button.tsx';
import { Snippet } from '../../ui/snippet.tsx';

/** The secret of a webhook, shown this once. */
export const NewSecret = ({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }) => (
  <>
    <p>{t.webhooks.secretWhy}</p>
    <Snippet code={secret} label={t.webhooks.secret} />
    <div class="row">
      <Button kind="main-act" onClick={onClose}>
        {t.acts.close}
      </Button>
    </div>
  </>
);
