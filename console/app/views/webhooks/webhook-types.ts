export interface Webhook {
  id: string;
  job_id: string | null;
  url: string;
  events: string[];
  is_active: boolean;
  stopped_reason: string | null;
  created_at: string;
}
