/** One thing the doctor looked at. */
export interface Finding {
  name: string;
  /** `good`; `note`: works, with a loss; `bad`: needs a change. */
  verdict: 'good' | 'note' | 'bad';
  /** What was found, measured where it can be. */
  found: string;
  /** Why it matters; empty when all is well. */
  why: string;
  /** The command or setting that mends it; empty when all is well. */
  fix: string;
}

export type Check = () => Promise<Finding>;

export const good = (name: string, found: string): Finding => ({
  name,
  verdict: 'good',
  found,
  why: '',
  fix: '',
});
