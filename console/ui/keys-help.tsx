import { t } from '../text/words.ts';
import { Dialog } from './dialog.tsx';
import { type KeyedAct, keys, keyText } from './keys.ts';

export const KeysHelp = ({ onClose }: { readonly onClose: () => void }) => (
  <Dialog title={t.keyboard.title} onClose={onClose}>
    <dl class="keys">
      {(Object.keys(keys) as KeyedAct[]).map((act) => (
        <div key={act} class="row">
          <dt>
            <kbd>{keyText(act)}</kbd>
          </dt>
          <dd>{t.keyboard.acts[act]}</dd>
        </div>
      ))}
    </dl>
  </Dialog>
);
