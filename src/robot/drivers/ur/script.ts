/** Parameters of our control program. */
export interface ControlScript {
  /** Where it connects. */
  host: string;
  port: number;
  /** Identifies the start it belongs to. */
  token: number;
  /** Period of the controller: 8 ms CB3, 2 ms e-Series. */
  stepS: number;
  lookaheadS: number;
  gain: number;
  /** Deceleration of a stop. */
  stopRadS2: number;
  /** Longest extrapolation while setpoints are missing. */
  extrapolateS: number;
  /** The program ends without a first frame this long after connecting. */
  firstFrameS: number;
  /** The program stops at a setpoint that moves a joint faster than this. */
  maxStepRadS: number;
}

/** Upper bound of the timeout that a frame may set. */
const MAX_TIMEOUT_S = 0.2;

const JOINTS = [0, 1, 2, 3, 4, 5];
const list = (entry: (i: number) => string): string => `[${JOINTS.map(entry).join(', ')}]`;

/**
 * The program that runs on the controller: connects back, reads frames with a timeout, and servos in its own
 * thread at the controller's period. On silence, a closed connection, an unknown mode or a jump it runs
 * `stopj` and ends. UNVERIFIED ON HARDWARE
 */
export function controlScript(options: ControlScript): string {
  return `def farhand():
${parameters(options)}
  global fh_q = get_actual_joint_positions()
  global fh_from = fh_q
  global fh_out = fh_q
  global fh_servo = False
  global fh_fresh = False
  global fh_gap = 1
  global fh_missed = 0
${servoThread()}
${receiver()}
end
`;
}

function parameters(options: ControlScript): string {
  return `  global fh_host = "${options.host}"
  global fh_port = ${options.port}
  global fh_token = ${options.token}
  global fh_step_s = ${real(options.stepS)}
  global fh_lookahead_s = ${real(options.lookaheadS)}
  global fh_gain = ${real(options.gain)}
  global fh_stop_rad_s2 = ${real(options.stopRadS2)}
  global fh_extrapolate_steps = ${Math.round(options.extrapolateS / options.stepS)}
  global fh_first_frame_s = ${real(options.firstFrameS)}
  global fh_max_step_rad_s = ${real(options.maxStepRadS)}
  global fh_max_timeout_s = ${real(MAX_TIMEOUT_S)}`;
}

const real = (value: number): string => (Number.isInteger(value) ? `${value}.0` : `${value}`);

/** One servoj per period: the newest setpoint, or an extrapolation of the last two, then rest. */
const servoThread = (): string => `  thread fh_servo_loop():
    while True:
      enter_critical
      if fh_fresh:
        fh_fresh = False
        fh_gap = fh_missed + 1
        fh_missed = 0
        fh_out = fh_q
      else:
        fh_missed = fh_missed + 1
        if fh_missed <= fh_extrapolate_steps and fh_missed <= fh_gap:
          fh_out = ${list((i) => `fh_out[${i}] + (fh_q[${i}] - fh_from[${i}]) / fh_gap`)}
        end
      end
      local fh_on = fh_servo
      local fh_goal = fh_out
      exit_critical
      if fh_on:
        servoj(fh_goal, t=fh_step_s, lookahead_time=fh_lookahead_s, gain=fh_gain)
      else:
        sync()
      end
    end
  end`;

const receiver = (): string => `  if not socket_open(fh_host, fh_port, "farhand"):
    textmsg("farhand: cannot reach the operator's computer")
    halt
  end
  socket_send_int(fh_token, "farhand")
  fh_thread = run fh_servo_loop()
  fh_wait_s = fh_first_frame_s
  fh_more = True
  while fh_more:
    fh_frame = socket_read_binary_integer(8, "farhand", fh_wait_s)
    if fh_frame[0] != 8:
      textmsg("farhand: no setpoint in time")
      fh_more = False
    else:
      fh_wait_s = fh_frame[1] / 1000.0
      if fh_wait_s < fh_step_s:
        fh_wait_s = fh_step_s
      elif fh_wait_s > fh_max_timeout_s:
        fh_wait_s = fh_max_timeout_s
      end
      if fh_frame[8] == 1:
        fh_new = ${list((i) => `fh_frame[${i + 2}] / 1000000.0`)}
        enter_critical
        if not fh_servo:
          fh_q = get_actual_joint_positions()
          fh_out = fh_q
          fh_missed = 0
        end
        fh_room = fh_max_step_rad_s * fh_step_s * (fh_missed + 2)
        fh_i = 0
        while fh_i < 6:
          if norm(fh_new[fh_i] - fh_q[fh_i]) > fh_room:
            fh_more = False
          end
          fh_i = fh_i + 1
        end
        if fh_more:
          fh_from = fh_q
          fh_q = fh_new
          fh_fresh = True
          fh_servo = True
        else:
          textmsg("farhand: setpoint too far away")
        end
        exit_critical
      elif fh_frame[8] == 0:
        fh_servo = False
      else:
        fh_more = False
      end
    end
  end
  kill fh_thread
  stopj(fh_stop_rad_s2)
  socket_close("farhand")`;
